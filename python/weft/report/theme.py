"""Colours and type of the figures, for a light and a dark page.

Categories: Okabe and Ito, "Color Universal Design", 2008, without its yellow and black, which vanish on a light or a
dark page; lightened for dark. Heat: lightness changes monotonically from the page's grey to the loudest value, so it
reads with any colour vision and in print.

Causes (why a flow was slow): Tol, "Colour Schemes", SRON/EPS/TN/09-002, the qualitative scheme of twelve, lightened for
dark; flows beside causes are steps of one slate, so that no colour means two things.
"""

from typing import Any

CATEGORIES = {
    "light": ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5c3e", "#6b7280"],
    "dark": ["#5ab4ee", "#f0793a", "#2fc79a", "#e39bc4", "#f2b84b", "#a5d8fa", "#c9a27a", "#a4abb8"],
}
CAUSES = {
    "sender": {"light": "#44aa99", "dark": "#5fc9b8"},
    "receiver": {"light": "#332288", "dark": "#8579d9"},
    "collision": {"light": "#cc6677", "dark": "#e58b99"},
    "fabric": {"light": "#ddcc77", "dark": "#e8dc9a"},
    "unfairness": {"light": "#aa4499", "dark": "#cf74c0"},
    "head_of_line": {"light": "#661100", "dark": "#c0705a"},
    "pace": {"light": "#aa4466", "dark": "#dd7aa0"},
    "control": {"light": "#117733", "dark": "#4fae6d"},
    "slow_receiver": {"light": "#6699cc", "dark": "#8fb6de"},
    "timeouts": {"light": "#882255", "dark": "#c2558a"},
    "duplicates": {"light": "#999933", "dark": "#bcbc55"},
    "window": {"light": "#88ccee", "dark": "#a9ddf5"},
}
"""By the names of weft.explaining.cause.CAUSES."""
SLATE = {
    "light": ["#566575", "#6d7d8e", "#8494a4", "#9babb9", "#b1bfca", "#c6d0d9", "#dce3e9"],
    "dark": ["#b9c3cd", "#a2adb8", "#8b97a3", "#76828e", "#626d79", "#4f5964", "#3d464f"],
}
"""Flows beside the one that is explained, those with most first; the last is all others."""
HEAT = {
    "light": ["#d9dee5", "#f1d089", "#ea9245", "#cf4a3a", "#92154a", "#460a3c"],
    "dark": ["#3a404b", "#5b3560", "#a33a62", "#e2624a", "#f8b04c", "#fdf3a8"],
}
INK = {
    "light": {"page": "#ffffff", "ink": "#1c2128", "soft": "#5b6470", "line": "#d8dde3"},
    "dark": {"page": "#15181d", "ink": "#e6e9ee", "soft": "#9aa4b1", "line": "#333a44"},
}
FONT = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"


def config(scheme: str) -> dict[str, Any]:
    """Vega-Lite configuration for `light` or `dark`."""
    ink = INK[scheme]
    return {
        "background": ink["page"],
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None, "continuousHeight": 260},
        "range": {"category": CATEGORIES[scheme], "ramp": HEAT[scheme], "heatmap": HEAT[scheme]},
        "axis": {
            "labelColor": ink["soft"],
            "titleColor": ink["ink"],
            "titleFontWeight": "normal",
            "titleFontSize": 12,
            "labelFontSize": 11,
            "gridColor": ink["line"],
            "gridOpacity": 0.6,
            "domainColor": ink["soft"],
            "tickColor": ink["line"],
            "titlePadding": 8,
            "labelOverlap": True,
            "labelSeparation": 5,
        },
        "axisX": {"grid": False},
        "axisXQuantitative": {"tickCount": 8},
        "axisYQuantitative": {"tickCount": 6},
        "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
        "legend": {
            "orient": "top",
            "labelColor": ink["ink"],
            "titleColor": ink["soft"],
            "titleFontWeight": "normal",
            "labelFontSize": 12,
            "titleFontSize": 11,
            "symbolStrokeWidth": 2.5,
            "symbolOpacity": 1,
            "labelLimit": 320,
            "columnPadding": 18,
        },
        "title": {"color": ink["ink"], "fontSize": 13, "fontWeight": 600, "anchor": "start", "offset": 8},
        "text": {"color": ink["ink"]},
        "rule": {"color": ink["soft"]},
        "line": {"strokeWidth": 2, "strokeJoin": "round", "strokeCap": "round"},
        "style": {
            "name": {"fill": ink["ink"], "fontSize": 10},
        },
        # For marks that follow the scheme: {"expr": "paper"}.
        "params": [{"name": "paper", "value": ink["page"]}, {"name": "pencil", "value": ink["soft"]}],
    }
