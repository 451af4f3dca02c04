
"use strict";
// Draws every element that `render_chart` made. Names and errors are data of other people: they are set as text only,
// and the library, which reads markup in its texts, never gets one of them.
(() => {
  const data = JSON.parse(document.getElementById("chart-data").textContent);
  const axes = new Map(data.axes.map((axis, number) => [axis.key, { ...axis, number }]));
  const [y] = data.axes;
  const colors = 8;
  const symbols = [
    ["circle", "●"], ["square", "■"], ["triangle-up", "▲"], ["diamond", "◆"], ["triangle-down", "▼"], ["star", "★"],
  ];
  const hidden = new Map(Object.keys(data.sets).map((name) => [name, new Set()]));
  const options = { baseline: true, dominated: true, select: () => true };
  const charts = [];

  function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    Object.assign(made, properties);
    made.append(...children);
    return made;
  }

  const write = (number, axis) => `${Number(number.toPrecision(4)).toLocaleString("en")} ${axis.unit}`;

  function describe(line, point, isBaseline) {
    const [conc, words, values, baseline] = point;
    const shown = isBaseline ? baseline : values;
    const texts = data.axes.flatMap((axis, number) => {
      if (shown[number] === null) return [];
      const before = !isBaseline && baseline ? baseline[number] : null;
      const change = before ? 100 * (values[number] - before) / Math.abs(before) : null;
      const note = change === null ? "" : ` (${change > 0 ? "+" : ""}${change.toFixed(1)} %)`;
      return [`${axis.label}: ${write(shown[number], axis)}${note}`];
    });
    return [isBaseline ? `${line.name} (baseline)` : line.name, [words, `concurrency ${conc}`].filter(Boolean).join(", "), ...texts].join("\n");
  }

  // Each line gives up to three traces for each of this run and its baseline: the parts of the frontier as one trace with
  // gaps, and the points.
  function trace(line, number, axis, isBaseline, styles) {
    const color = styles[number % colors];
    const [symbol] = symbols[number % symbols.length];
    const read = (index) => line.points[index][isBaseline ? 3 : 2];
    const parts = line[isBaseline ? "baseline" : "frontier"][axis.key];
    const path = parts.flatMap((part, index) => (index ? [null, ...part] : part));
    const best = new Set(path);
    const points = line.points.flatMap((point, index) => {
      const values = read(index);
      return values && values[0] !== null && values[axis.number] !== null && (best.has(index) || options.dominated) ? [index] : [];
    });
    const at = (index, place) => (index === null ? null : read(index)[place]);
    return [
      {
        type: "scatter", mode: "lines", hoverinfo: "skip", showlegend: false, connectgaps: false,
        x: path.map((index) => at(index, axis.number)), y: path.map((index) => at(index, 0)),
        line: { color, width: isBaseline ? 1.2 : 2.2, dash: isBaseline ? "dot" : "solid" }, opacity: isBaseline ? 0.7 : 1,
      },
      {
        type: "scatter", mode: "markers", hoverinfo: "none", showlegend: false,
        x: points.map((index) => at(index, axis.number)), y: points.map((index) => at(index, 0)),
        customdata: points.map((index) => [number, index, isBaseline]),
        marker: {
          color, symbol: isBaseline ? `${symbol}-open` : symbol, size: points.map((index) => (best.has(index) ? 9 : 6)),
          opacity: points.map((index) => (best.has(index) ? 1 : 0.45)), line: { color, width: isBaseline ? 1.2 : 0 },
        },
      },
    ];
  }

  function draw(chart) {
    const { figure, plot, axis, set } = chart;
    const lines = data.sets[set].map((line, number) => ({ line, number }));
    const style = getComputedStyle(figure);
    const resolve = (name) => {
      chart.probe.style.color = `var(${name})`;
      return getComputedStyle(chart.probe).color;
    };
    const styles = Array.from({ length: colors }, (_, number) => resolve(`--chart-${number}`));
    const visible = lines.filter(({ line }) => options.select(line) && !hidden.get(set).has(line));
    const traces = [true, false].flatMap((isBaseline) => (isBaseline && !options.baseline ? []
      : visible.flatMap(({ line, number }) => trace(line, number, axis, isBaseline, styles))));
    chart.points = traces.flatMap(({ customdata = [] }, curveNumber) =>
      customdata.map(([, , isBaseline], pointNumber) => ({ curveNumber, pointNumber, isBaseline })))
      .sort((first, second) => first.isBaseline - second.isBaseline);
    chart.at = -1;
    chart.traces = traces;
    hide(chart);
    chart.none.hidden = chart.points.length > 0;
    plot.hidden = !chart.points.length;
    if (plot.hidden) return undefined;
    const line = resolve("--line");
    const base = { gridcolor: line, zerolinecolor: line, linecolor: line, rangemode: "tozero", fixedrange: narrow.matches };
    const drawing = Plotly.react(plot, traces, {
      template: {}, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "closest",
      margin: { l: 64, r: 12, t: 12, b: 48 }, dragmode: "zoom", autosize: true,
      font: { color: style.color, family: "system-ui, sans-serif", size: 12 },
      xaxis: { ...base, title: { text: `${axis.label} (${axis.unit})${narrow.matches ? "" : axis.higher ? " → better" : " ← better"}` } },
      yaxis: { ...base, title: { text: `${y.label} (${y.unit})` } },
    }, { displayModeBar: false, displaylogo: false, responsive: true, showTips: false, scrollZoom: false });
    if (!chart.listens) {
      plot.on("plotly_hover", ({ points: [point] }) => show(chart, point));
      plot.on("plotly_unhover", () => hide(chart));
      chart.listens = true;
    }
    return drawing;
  }

  function fill(legend) {
    const { set } = legend.dataset;
    const lines = data.sets[set];
    const shown = lines.map((_, number) => number).filter((number) => options.select(lines[number]));
    const boxes = shown.map((number) => {
      const line = lines[number];
      const box = element("input", { type: "checkbox", checked: !hidden.get(set).has(line) });
      box.addEventListener("change", () => {
        hidden.get(set)[box.checked ? "delete" : "add"](line);
        redraw(set);
      });
      const key = element("span", { className: `chart-key chart-key-${number % colors}`, textContent: symbols[number % symbols.length][1] });
      key.ariaHidden = "true";
      return element("label", {}, box, key, ` ${line.name}`);
    });
    const toggle = element("button", { type: "button", textContent: "all or none" });
    toggle.addEventListener("click", () => {
      const every = shown.every((number) => !hidden.get(set).has(lines[number]));
      for (const number of shown) hidden.get(set)[every ? "add" : "delete"](lines[number]);
      redraw(set);
    });
    const active = [...legend.querySelectorAll("input, button")].indexOf(document.activeElement);
    legend.replaceChildren(element("legend", { textContent: "Lines" }), ...boxes, ...(boxes.length > 1 ? [toggle] : []));
    if (active >= 0) [...legend.querySelectorAll("input, button")][active]?.focus();
  }

  function show(chart, { curveNumber, pointNumber }) {
    const { x, y: heights, customdata } = chart.traces[curveNumber];
    const [number, index, isBaseline] = customdata[pointNumber];
    const line = data.sets[chart.set][number];
    const { tip, plot, figure } = chart;
    tip.textContent = describe(line, line.points[index], isBaseline);
    tip.hidden = false;
    const { xaxis, yaxis } = plot._fullLayout;
    const left = plot.offsetLeft + xaxis._offset + xaxis.d2p(x[pointNumber]);
    const top = plot.offsetTop + yaxis._offset + yaxis.d2p(heights[pointNumber]);
    const room = figure.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left + 12, room))}px`;
    tip.style.top = `${Math.max(8, top - tip.offsetHeight - 12)}px`;
  }

  function hide(chart) {
    chart.tip.hidden = true;
  }

  function walk(chart, event) {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.key === "Escape") hide(chart);
    if (!(event.key in steps) || !chart.points.length) return;
    event.preventDefault();
    chart.at = (chart.at + steps[event.key] + chart.points.length) % chart.points.length;
    show(chart, chart.points[chart.at]);
  }

  function redraw(set) {
    for (const legend of legends) if (!set || legend.dataset.set === set) fill(legend);
    return Promise.all(charts.filter((chart) => !set || chart.set === set).map(draw)).then(() => undefined);
  }
  const redrawAll = () => redraw();

  const narrow = matchMedia("(max-width: 40rem)");
  const legends = [...document.querySelectorAll(".chart-legend")];
  for (const figure of document.querySelectorAll("figure.chart")) {
    const { set, x } = figure.dataset;
    const chart = {
      figure, set, axis: axes.get(x),
      plot: element("div", { className: "plot", tabIndex: 0 }),
      none: element("p", { className: "none", textContent: "No result has these numbers.", hidden: true }),
      tip: element("div", { className: "tip", hidden: true }),
      probe: element("span", { hidden: true }),
    };
    chart.plot.role = "group";
    chart.plot.ariaLabel = `${figure.querySelector("figcaption").textContent}. The arrow keys move from point to point.`;
    chart.tip.role = "status";
    figure.append(chart.plot, chart.none, chart.tip, chart.probe);
    chart.plot.addEventListener("keydown", (event) => walk(chart, event));
    chart.plot.addEventListener("blur", () => hide(chart));
    charts.push(chart);
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  // A later script of the page may choose the lines before the first drawing.
  const charted = { data, options, redraw: redrawAll, first: redrawAll };
  charted.start = (first) => {
    charted.first = first;
  };
  charted.choose = (figure, key) => {
    const chart = charts.find((other) => other.figure === figure);
    chart.axis = axes.get(key);
    return draw(chart);
  };
  charted.drawn = new Promise((resolve) => {
    document.addEventListener("DOMContentLoaded", () => charted.first().then(() => {
      document.documentElement.dataset.drawn = "";
      resolve();
    }));
  });
  window.infxCharts = charted;
})();
