// Draws the figures to fit the page, again when its width or colour scheme changes, and fills the downloads.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const views = new Map();

  // The same rule as Figure.sized in drawing.py.
  function sized(figure, width) {
    const spec = structuredClone(figure.spec);
    const hints = spec.usermeta.weft;
    const panels = spec.concat || [spec];
    let inner = width - hints.margin;
    if (spec.concat) {
      spec.columns = Math.max(1, Math.min(panels.length, Math.floor(width / hints.panel)));
      if (hints.edges) {
        spec.columns = Math.ceil(panels.length / Math.ceil(panels.length / spec.columns));
        titleEdges(panels, spec.columns);
      }
      inner = Math.floor(width / spec.columns) - hints.margin;
    }
    for (const panel of panels) {
      panel.width = inner;
      if (hints.aspect) panel.height = Math.min(hints.tallest, Math.max(150, Math.round(inner * hints.aspect)));
    }
    if (hints.edges && hints.aspect) foldTitles(panels);
    for (const parameter of spec.params || []) {
      if (parameter.name === "panel") parameter.value = inner;
      if (parameter.name === "page") parameter.value = width;
    }
    spec.datasets = figure.tables;
    return spec;
  }

  function titleEdges(panels, columns) {
    panels.forEach((panel, place) => {
      for (const layer of panel.layer || [panel]) {
        if (place % columns && layer.encoding.y) layer.encoding.y.title = null;
        if (place + columns < panels.length && layer.encoding.x) layer.encoding.x.title = null;
      }
    });
  }

  function foldTitles(panels) {
    for (const panel of panels) {
      for (const layer of panel.layer || [panel]) {
        const title = layer.encoding.y?.title;
        const place = typeof title === "string" ? title.indexOf(" (") : -1;
        if (place > 0 && 6.2 * title.length > panel.height) {
          layer.encoding.y.title = [title.slice(0, place), title.slice(place + 1)];
        }
      }
    }
  }

  async function draw(element) {
    const name = element.dataset.figure;
    const width = Math.max(280, Math.floor(element.clientWidth) - 10);
    const options = {
      actions: false,
      renderer: "svg",
      config: data.config[dark.matches ? "dark" : "light"],
    };
    try {
      views.get(name)?.finalize();
      views.set(name, (await vegaEmbed(element, sized(data.figures[name], width), options)).view);
    } catch (error) {
      element.innerHTML = "";
      const text = document.createElement("p");
      text.className = "broken";
      text.textContent = `This figure could not be drawn: ${error}`;
      element.append(text);
      console.error(name, error);
    }
  }

  async function drawAll() {
    document.documentElement.dataset.drawn = "";
    for (const element of document.querySelectorAll(".drawing")) await draw(element);
    document.documentElement.dataset.drawn = "yes";
  }

  for (const link of document.querySelectorAll("a.csv")) {
    const { figure, table } = link.dataset;
    const text = figure ? data.figures[figure].tables[table] : data.tables[table];
    link.href = `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`;
  }
  for (const button of document.querySelectorAll("button[data-image]")) {
    button.addEventListener("click", async () => {
      const { figure, image } = button.dataset;
      const link = document.createElement("a");
      link.href = await views.get(figure).toImageURL(image, 2);
      link.download = `${figure}.${image}`;
      link.click();
    });
  }

  let width = document.documentElement.clientWidth;
  let timer;
  window.addEventListener("resize", () => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    clearTimeout(timer);
    timer = setTimeout(drawAll, 200);
  });
  dark.addEventListener("change", drawAll);
  drawAll();
})();
