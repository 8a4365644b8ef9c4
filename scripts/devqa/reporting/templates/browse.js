"use strict";
// What the browsers of single rows share: filters, pages, and one row by its address (#row=id). Texts of the data reach
// the page as text nodes only.
const browsing = (function () {
  const PAGE = 20;
  const browser = document.getElementById("browser");
  if (!browser) return {};
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = browser.querySelector("form");
  const list = browser.querySelector(".rows");
  const pager = browser.querySelector(".pager");
  const single = browser.querySelector(".single");

  function element(name, className, ...children) {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  // Fenced code is set apart; everything else stays as it was written.
  function text(value, language) {
    if (!value) return element("span", "none", "nothing");
    const made = element("div", "text");
    if (language) made.lang = language;
    value.split(/^```[^\n]*\n([\s\S]*?)^```[ \t]*$/m).forEach((part, index) => {
      const trimmed = part.replace(/^\n+|\n+$/g, "");
      if (index % 2) made.append(element("pre", "", trimmed));
      else if (trimmed) made.append(index ? trimmed : part.trimEnd());
    });
    if (value.length > 1500 || value.split("\n").length > 20) {
      made.classList.add("long");
      made.tabIndex = 0;
    }
    return made;
  }

  // A link that leads out of the page.
  function away(label, address) {
    const made = element("a", "", label);
    made.href = address;
    made.rel = "noopener noreferrer";
    made.target = "_blank";
    return made;
  }

  const rest = (count) => (count ? [element("p", "soft", `… and ${count.toLocaleString("en")} more characters, which the tables hold`)] : []);

  function permanent(id, title) {
    const made = element("a", "", id);
    made.href = `#row=${encodeURIComponent(id)}`;
    made.title = title;
    return made;
  }

  // Offer what a field of the form can be, with how often it is that; a field without a choice is hidden.
  function offer(name, values, rank = () => 0) {
    const counts = new Map();
    values.forEach((value) => counts.set(value, (counts.get(value) || 0) + 1));
    const sorted = [...counts.keys()].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b, "en", { numeric: true }));
    const made = sorted.map((value) => new Option(`${value} (${counts.get(value).toLocaleString("en")})`, value));
    form.elements[name].replaceChildren(new Option("all", ""), ...made);
    form.elements[name].parentElement.hidden = sorted.length < 2;
  }

  function wantedRow() {
    const wanted = /^#row=(.+)$/.exec(location.hash);
    if (!wanted) return null;
    try {
      return decodeURIComponent(wanted[1]);
    } catch (error) {
      return wanted[1];
    }
  }

  // Show `items`, called `noun`, as articles. `matcher` gives what tells, of an item and its number, whether the form
  // asks for it; `index` gets ready what is searched.
  function start({ items, noun, idOf, article, matcher, index }) {
    let found = items;
    let page = 0;

    function show() {
      const pages = Math.max(1, Math.ceil(found.length / PAGE));
      page = Math.min(page, pages - 1);
      const part = found.slice(page * PAGE, (page + 1) * PAGE);
      list.replaceChildren(...part.map(article));
      const range = part.length ? `${page * PAGE + 1}–${page * PAGE + part.length} of ` : "";
      browser.querySelector(":scope > .found").textContent = `${range}${found.length.toLocaleString("en")} ${noun}`;
      pager.hidden = pages === 1;
      pager.querySelector("span").textContent = `Page ${page + 1} of ${pages.toLocaleString("en")}`;
      pager.querySelector("[name=previous]").disabled = page === 0;
      pager.querySelector("[name=next]").disabled = page === pages - 1;
    }

    function filter() {
      const id = wantedRow();
      single.hidden = id === null;
      form.hidden = id !== null;
      if (id !== null) single.querySelector("code").textContent = id;
      found = items.filter(id === null ? matcher() : (item) => idOf(item) === id);
      page = 0;
      show();
    }

    function turn(step) {
      page += step;
      show();
      browser.scrollIntoView();
    }

    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    pager.querySelector("[name=previous]").addEventListener("click", () => turn(-1));
    pager.querySelector("[name=next]").addEventListener("click", () => turn(1));
    window.addEventListener("hashchange", () => {
      // Other places on the page are linked too.
      if (wantedRow() === null && single.hidden) return;
      filter();
      if (wantedRow() !== null) browser.scrollIntoView();
    });
    filter();
    if (wantedRow() !== null) browser.scrollIntoView();
    // Whoever only looks at rows does not wait for it, and it takes as much room again as they do.
    form.elements.text.addEventListener("focus", index, { once: true });
  }

  return { data, form, element, text, away, rest, permanent, offer, start };
})();
