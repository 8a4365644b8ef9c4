"use strict";
// The browser of single answers. Texts of the data reach the page as text nodes only.
(function () {
  const PAGE = 20;
  const FATES = { CORRECT: "correct", INCORRECT: "incorrect", NOT_ATTEMPTED: "not-attempted", ungraded: "ungraded" };
  const browser = document.getElementById("browser");
  if (!browser) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = browser.querySelector("form");
  const list = browser.querySelector(".rows");
  const pager = browser.querySelector(".pager");
  let found = data.runs;
  let page = 0;
  let haystacks = null;

  const valueOf = {
    fate: (run) => run.fate,
    language: (run) => data.rows[run.row].language || "unknown",
    difficulty: (run) => data.rows[run.row].difficulty || "unknown",
    setting: (run) => run.setting,
    repeat: (run) => String(run.repeat),
  };

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

  function reference(entry) {
    const label = entry.title || entry.url || "no address";
    if (!/^https?:\/\//i.test(entry.url || "")) return element("li", "", label);
    const link = element("a", "", label);
    link.href = entry.url;
    link.rel = "noopener noreferrer";
    link.target = "_blank";
    link.title = entry.url;
    return element("li", "", link);
  }

  function article(run) {
    const row = data.rows[run.row];
    const tokens = run.input_tokens === null ? [] : [`${run.input_tokens} + ${run.output_tokens} tokens`];
    if (run.reasoning_tokens) tokens.push(`${run.reasoning_tokens} of them reasoning`);
    const facts = [row.language, row.difficulty, run.setting, `repeat ${run.repeat}`, ...tokens, row.id];
    const made = element("article", `row ${FATES[run.fate] || "unusable"}`);
    made.append(element("p", "facts", element("b", "", run.fate), ...facts.filter(Boolean).map((fact) => element("span", "", fact))));
    const question = text(row.question, row.language);
    question.classList.add("question");
    made.append(question);
    const terms = element("dl", "");
    const add = (name, ...content) => terms.append(element("dt", "", name), element("dd", "", ...content));
    add("Gold answer", text(row.answer, row.language));
    add("Prediction", text(run.prediction, row.language));
    if (run.reason) add(run.fate === "ungraded" ? "Why ungraded" : "Why unusable", text(run.reason));
    add("Judge’s words", text(run.judge_text));
    if (row.references.length) add("References", element("ul", "", ...row.references.map(reference)));
    made.append(terms);
    return made;
  }

  function show() {
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(page, pages - 1);
    const part = found.slice(page * PAGE, (page + 1) * PAGE);
    list.replaceChildren(...part.map(article));
    const range = part.length ? `${page * PAGE + 1}–${page * PAGE + part.length} of ` : "";
    browser.querySelector(".found").textContent = `${range}${found.length.toLocaleString("en")} answers`;
    pager.hidden = pages === 1;
    pager.querySelector("span").textContent = `Page ${page + 1} of ${pages.toLocaleString("en")}`;
    pager.querySelector("[name=previous]").disabled = page === 0;
    pager.querySelector("[name=next]").disabled = page === pages - 1;
  }

  function index() {
    haystacks = haystacks || data.runs.map((run) => {
      const row = data.rows[run.row];
      return [row.id, row.question, row.answer, run.prediction, run.judge_text, run.reason].join("\n").toLowerCase();
    });
    return haystacks;
  }

  function filter() {
    const wanted = Object.keys(valueOf).filter((name) => form.elements[name].value);
    const needle = form.elements.text.value.trim().toLowerCase();
    found = data.runs.filter(
      (run, number) => wanted.every((name) => valueOf[name](run) === form.elements[name].value) && (!needle || index()[number].includes(needle))
    );
    page = 0;
    show();
  }

  function options(name) {
    const counts = new Map();
    data.runs.forEach((run) => counts.set(valueOf[name](run), (counts.get(valueOf[name](run)) || 0) + 1));
    const order = Object.keys(FATES);
    const rank = (value) => (name === "fate" ? (order.indexOf(value) + 1 || order.length + 1) : 0);
    const values = [...counts.keys()].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b, "en", { numeric: true }));
    const made = values.map((value) => new Option(`${value} (${counts.get(value).toLocaleString("en")})`, value));
    form.elements[name].replaceChildren(new Option("all", ""), ...made);
    form.elements[name].parentElement.hidden = values.length < 2;
  }

  function turn(step) {
    page += step;
    show();
    browser.scrollIntoView();
  }

  Object.keys(valueOf).forEach(options);
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  pager.querySelector("[name=previous]").addEventListener("click", () => turn(-1));
  pager.querySelector("[name=next]").addEventListener("click", () => turn(1));
  form.hidden = false;
  filter();
  // Before the first key stroke, and after the page is shown.
  setTimeout(index, 300);
})();
