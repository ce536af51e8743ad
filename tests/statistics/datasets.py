"""Published data of the worked examples."""

import polars as pl


def film() -> pl.DataFrame:
    """Johnson and Wichern, Applied Multivariate Statistical Analysis, table 6.4; Krzanowski 1988, p. 381.

    Plastic film: rate of extrusion and amount of an additive on resistance to tear, gloss and opacity.
    """
    cells = {
        ("low", "low"): "6.5 9.5 4.4  6.2 9.9 6.4  5.8 9.6 3.0  6.5 9.6 4.1  6.5 9.2 0.8",
        ("low", "high"): "6.9 9.1 5.7  7.2 10.0 2.0  6.9 9.9 3.9  6.1 9.5 1.9  6.3 9.4 5.7",
        ("high", "low"): "6.7 9.1 2.8  6.6 9.3 4.1  7.2 8.3 3.8  7.1 8.4 1.6  6.8 8.5 3.4",
        ("high", "high"): "7.1 9.2 8.4  7.0 8.8 5.2  7.2 9.7 6.9  7.5 10.1 2.7  7.6 9.2 1.9",
    }
    rows = []
    for (rate, additive), text in cells.items():
        numbers = [float(number) for number in text.split()]
        for tear, gloss, opacity in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
            rows.append({"rate": rate, "additive": additive, "tear": tear, "gloss": gloss, "opacity": opacity})
    return pl.DataFrame(rows)


def rootstock() -> pl.DataFrame:
    """Rencher, Methods of Multivariate Analysis, table 6.2 (Andrews and Herzberg 1985): six root stocks, 8 trees each.

    Trunk girth at 4 years, extension growth at 4 years, trunk girth at 15 years, weight at 15 years.
    """
    text = """
    1.11 2.569 3.58 .760  1.19 2.928 3.75 .821  1.09 2.865 3.93 .928  1.25 3.844 3.94 1.009
    1.11 3.027 3.60 .766  1.08 2.336 3.51 .726  1.11 3.211 3.98 1.209  1.16 3.037 3.62 .750
    1.05 2.074 4.09 1.036  1.17 2.885 4.06 1.094  1.11 3.378 4.87 1.635  1.25 3.906 4.98 1.517
    1.17 2.782 4.38 1.197  1.15 3.018 4.65 1.244  1.17 3.383 4.69 1.495  1.19 3.447 4.40 1.026
    1.07 2.505 3.76 .912  .99 2.315 4.44 1.398  1.06 2.667 4.38 1.197  1.02 2.390 4.67 1.613
    1.15 3.021 4.48 1.476  1.20 3.085 4.78 1.571  1.20 3.308 4.57 1.506  1.17 3.231 4.56 1.458
    1.22 2.838 3.89 .944  1.03 2.351 4.05 1.241  1.14 3.001 4.05 1.023  1.01 2.439 3.92 1.067
    .99 2.199 3.27 .693  1.11 3.318 3.95 1.085  1.20 3.601 4.27 1.242  1.08 3.291 3.85 1.017
    .91 1.532 4.04 1.084  1.15 2.552 4.16 1.151  1.14 3.083 4.79 1.381  1.05 2.330 4.42 1.242
    .99 2.079 3.47 .673  1.22 3.366 4.41 1.137  1.05 2.416 4.64 1.455  1.13 3.100 4.57 1.325
    1.11 2.813 3.76 .800  .75 .840 3.14 .606  1.05 2.199 3.75 .790  1.02 2.132 3.99 .853
    1.05 1.949 3.34 .610  1.07 2.251 3.21 .562  1.13 3.064 3.63 .707  1.11 2.469 3.95 .952
    """
    numbers = [float(number) for number in text.split()]
    columns = {name: numbers[place::4] for place, name in enumerate(("girth4", "ext4", "girth15", "weight15"))}
    return pl.DataFrame({"rootstock": [tree // 8 + 1 for tree in range(48)], **columns})


def moore() -> pl.DataFrame:
    """Moore and Krupat 1971, `Moore` of R's carData: conformity under a partner's status and the own authoritarianism.

    Unequal cells.
    """
    text = """
    low low 8 7 10 6 13 12 7 6 8 12
    low medium 12 4 4 9
    low high 4 8 13 9 24 7 23 13
    high low 21 23 15 12 16
    high medium 12 17 14 16 20 8 14 17 7 17 15
    high high 19 9 7 11 14 13 10
    """
    rows = []
    for line in text.strip().splitlines():
        status, category, *values = line.split()
        rows += [{"status": status, "fcategory": category, "conformity": int(value)} for value in values]
    return pl.DataFrame(rows)


def obrien_kaiser() -> pl.DataFrame:
    """O'Brien and Kaiser, Psychological Bulletin 97, 1985: treatment and gender, unequal cells.

    One column per phase, the sum of its five hours (`OBrienKaiser` of R's carData has the hours).
    """
    rows = [
        ("control", "M", (1, 2, 4, 2, 1), (3, 2, 5, 3, 2), (2, 3, 2, 4, 4)),
        ("control", "M", (4, 4, 5, 3, 4), (2, 2, 3, 5, 3), (4, 5, 6, 4, 1)),
        ("control", "M", (5, 6, 5, 7, 7), (4, 5, 7, 5, 4), (7, 6, 9, 7, 6)),
        ("control", "F", (5, 4, 7, 5, 4), (2, 2, 3, 5, 3), (4, 4, 5, 3, 4)),
        ("control", "F", (3, 4, 6, 4, 3), (6, 7, 8, 6, 3), (4, 3, 6, 4, 3)),
        ("A", "M", (7, 8, 7, 9, 9), (9, 9, 10, 8, 9), (9, 10, 11, 9, 6)),
        ("A", "M", (5, 5, 6, 4, 5), (7, 7, 8, 10, 8), (8, 9, 11, 9, 8)),
        ("A", "F", (2, 3, 5, 3, 2), (2, 4, 8, 6, 5), (6, 6, 7, 5, 6)),
        ("A", "F", (3, 3, 4, 6, 4), (4, 5, 6, 4, 1), (5, 4, 7, 5, 4)),
        ("B", "M", (4, 4, 5, 3, 4), (6, 7, 6, 8, 8), (8, 8, 9, 7, 8)),
        ("B", "M", (3, 3, 4, 2, 3), (5, 4, 7, 5, 4), (5, 6, 8, 6, 5)),
        ("B", "M", (6, 7, 8, 6, 3), (9, 10, 11, 9, 6), (8, 7, 10, 8, 7)),
        ("B", "F", (5, 5, 6, 8, 6), (4, 6, 6, 8, 6), (7, 7, 8, 10, 8)),
        ("B", "F", (2, 2, 3, 1, 2), (5, 6, 7, 5, 2), (6, 7, 8, 6, 3)),
        ("B", "F", (2, 2, 3, 4, 4), (6, 6, 7, 9, 7), (7, 7, 8, 6, 7)),
        ("B", "F", (4, 5, 7, 5, 4), (7, 7, 8, 6, 7), (7, 8, 10, 8, 7)),
    ]
    return pl.DataFrame(
        [
            {"treatment": treatment, "gender": gender, "pre": sum(pre), "post": sum(post), "followup": sum(followup)}
            for treatment, gender, pre, post, followup in rows
        ]
    )


def iris() -> pl.DataFrame:
    """Fisher, Annals of Eugenics 7, 1936, as R has it: 50 flowers of each of three species."""
    from sklearn.datasets import load_iris

    found = load_iris()
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    species = [str(found.target_names[target]) for target in found.target]
    columns = {name: found.data[:, place] for place, name in enumerate(names)}
    return pl.DataFrame({**columns, "species": species})


def soils() -> pl.DataFrame:
    """Horton, Russell and Moore, Biometrics 24, 1968, `Soils` of R's carData: nine measures of soil.

    Three contours by four depths, in four blocks.
    """
    text = """
    5.4 .188 .92 215 16.35 7.65 .72 1.14 1.09  5.65 .165 1.04 208 12.25 5.15 .71 .94 1.35
    5.14 .26 .95 300 13.02 5.68 .68 .6 1.41  5.14 .169 1.1 248 11.92 7.88 1.09 1.01 1.64
    5.14 .164 1.12 174 14.17 8.12 .7 2.17 1.85  5.1 .094 1.22 129 8.55 6.92 .81 2.67 3.18
    4.7 .1 1.52 117 8.74 8.16 .39 3.32 4.16  4.46 .112 1.47 170 9.49 9.16 .7 3.76 5.14
    4.37 .112 1.07 121 8.85 10.35 .74 5.74 5.73  4.39 .058 1.54 115 4.73 6.91 .77 5.85 6.45
    4.17 .078 1.26 112 6.29 7.95 .26 5.3 8.37  3.89 .07 1.42 117 6.61 9.76 .41 8.3 9.21
    3.88 .077 1.25 127 6.41 10.96 .56 9.67 10.64  4.07 .046 1.54 91 3.82 6.61 .5 7.67 10.07
    3.88 .055 1.53 91 4.98 8 .23 8.78 11.26  3.74 .053 1.4 79 5.86 10.14 .41 11.04 12.15
    5.11 .247 .94 261 13.25 7.55 .61 1.86 2.61  5.46 .298 .96 300 12.3 7.5 .68 2 1.98
    5.61 .145 1.1 242 9.66 6.76 .63 1.01 .76  5.85 .186 1.2 229 13.78 7.12 .62 3.09 2.85
    4.57 .102 1.37 156 8.58 9.92 .63 3.67 3.24  5.11 .097 1.3 139 8.58 8.69 .42 4.7 4.63
    4.78 .122 1.3 214 8.22 7.75 .32 3.07 3.67  6.67 .083 1.42 132 12.68 9.56 .55 8.3 8.1
    3.96 .059 1.53 98 4.8 10 .36 6.52 7.72  4 .05 1.5 115 5.06 8.91 .28 7.91 9.78
    4.12 .086 1.55 148 6.16 7.58 .16 6.39 9.07  4.99 .048 1.46 97 7.49 9.38 .4 9.7 9.13
    3.8 .049 1.48 108 3.82 8.8 .24 9.57 11.57  3.96 .036 1.28 103 4.78 7.29 .24 9.67 11.42
    3.93 .048 1.42 109 4.93 7.47 .14 9.65 13.32  4.02 .039 1.51 100 5.66 8.84 .37 10.54 11.57
    5.24 .194 1 445 12.27 6.27 .72 1.02 .75  5.2 .256 .78 380 11.39 7.55 .78 1.63 2.2
    5.3 .136 1 259 9.96 8.08 .45 1.97 2.27  5.67 .127 1.13 248 9.12 7.04 .55 1.43 .67
    4.46 .087 1.24 276 7.24 9.4 .43 4.17 5.08  4.91 .092 1.47 158 7.37 10.57 .59 5.07 6.37
    4.79 .047 1.46 121 6.99 9.91 .3 5.15 6.82  5.36 .095 1.26 195 8.59 8.66 .48 4.17 3.65
    3.94 .054 1.6 148 4.85 9.62 .18 7.2 10.14  4.52 .051 1.53 115 6.34 9.78 .34 8.52 9.74
    4.35 .032 1.55 82 5.99 9.73 .22 7.02 8.6  4.64 .065 1.46 152 4.43 10.54 .22 7.61 9.09
    3.82 .038 1.4 105 4.65 9.85 .18 10.15 12.26  4.24 .035 1.47 100 4.56 8.95 .33 10.51 11.29
    4.22 .03 1.56 97 5.29 8.37 .14 8.27 9.51  4.41 .058 1.58 130 4.58 9.46 .14 9.28 12.69
    """
    numbers = [float(number) for number in text.split()]
    names = ("pH", "N", "Dens", "P", "Ca", "Mg", "K", "Na", "Conduc")
    return pl.DataFrame(
        {
            "contour": [place // 16 for place in range(48)],
            "depth": [place // 4 % 4 for place in range(48)],
            "block": [place % 4 for place in range(48)],
            **{name: numbers[place :: len(names)] for place, name in enumerate(names)},
        }
    )
