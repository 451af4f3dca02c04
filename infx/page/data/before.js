
"use strict";
// The page's policy blocks styles in attributes and style sheets with text. Both have a form that it allows.
(() => {
  document.documentElement.dataset.scripts = "";
  const { setAttribute } = Element.prototype;
  Element.prototype.setAttribute = function (name, value) {
    if (name === "style") this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
  const { createElement } = document;
  document.createElement = function (name, ...rest) {
    const element = createElement.call(document, name, ...rest);
    // The library's sheet for maps comes as text; no page draws a map.
    if (String(name).toLowerCase() === "style") Object.defineProperty(element, "textContent", { set() {} });
    return element;
  };
})();
