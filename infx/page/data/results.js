
"use strict";
// Filters the charts and the table of results, and switches between dark and light.
(() => {
  const { data, options, redraw } = window.infxCharts;
  const lines = data.sets.results;
  const form = document.getElementById("filters");
  const { model, lengths, hardware, latency, words, baseline, dominated } = form.elements;
  const [, second] = document.querySelectorAll("figure.chart");
  const all = document.getElementById("all");
  let rows = [];

  const fits = (select, line) => select.value === "" || line.groups[select.name] === select.value;

  // A choice that no line has together with the choices before it cannot be chosen.
  function narrow() {
    const before = [];
    for (const select of [model, lengths, hardware]) {
      const possible = new Set(lines.filter((line) => before.every((other) => fits(other, line)))
        .map((line) => line.groups[select.name]));
      for (const option of select.options) option.disabled = option.value !== "" && !possible.has(option.value);
      if (select.selectedOptions[0]?.disabled) select.value = [...select.options].find((option) => !option.disabled)?.value ?? "";
      before.push(select);
    }
  }

  function apply() {
    narrow();
    const parts = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    options.baseline = baseline.checked;
    options.dominated = dominated.checked;
    options.select = (line) => [model, lengths, hardware].every((select) => fits(select, line))
      && parts.every((part) => line.name.toLowerCase().includes(part));
    const selected = lines.map((line) => options.select(line));
    for (const row of rows) row.hidden = selected[row.dataset.line] === false;
    const number = lines.reduce((sum, line, index) => sum + (selected[index] ? line.points.length : 0), 0);
    document.getElementById("shown").textContent = number.toLocaleString("en");
    return redraw();
  }

  // The table is text until it is opened; reading thousands of rows would delay the charts.
  all.addEventListener("toggle", () => {
    if (!all.open || rows.length) return;
    const text = all.parentElement.querySelector("noscript").textContent;
    all.append(...new DOMParser().parseFromString(text, "text/html").body.children);
    rows = [...all.querySelectorAll("tr[data-line]")];
    apply();
  });
  latency.addEventListener("change", () => {
    second.querySelector("figcaption").textContent = `Throughput per GPU against ${latency.selectedOptions[0].text.toLowerCase()}`;
    window.infxCharts.choose(second, latency.value);
  });

  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    redraw();
  });
  window.infxCharts.start(apply);
})();
