"use strict";
// The browser of single answers. Texts of the data reach the page as text nodes only.
(function () {
  const PAGE = 20;
  const FATES = { CORRECT: "correct", INCORRECT: "incorrect", NOT_ATTEMPTED: "not-attempted", ungraded: "ungraded" };
  const GRADED = new Set(["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]);
  const browser = document.getElementById("browser");
  if (!browser) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = browser.querySelector("form");
  const list = browser.querySelector(".rows");
  const pager = browser.querySelector(".pager");
  const single = browser.querySelector(".single");
  let found = data.runs;
  let page = 0;
  let haystacks = null;

  const ofRow = (name) => (run) => data.rows[run.row][name] || "unknown";
  const valueOf = {
    fate: (run) => run.fate,
    language: ofRow("language"),
    knowledge: ofRow("knowledge"),
    domain: ofRow("domain"),
    difficulty: ofRow("difficulty"),
    source: ofRow("source"),
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

  function link(entry) {
    const label = entry.title || entry.url || "no address";
    if (!/^https?:\/\//i.test(entry.url || "")) return label;
    const made = element("a", "", label);
    made.href = entry.url;
    made.rel = "noopener noreferrer";
    made.target = "_blank";
    made.title = entry.url;
    return made;
  }

  const rest = (count) => (count ? [element("p", "soft", `… and ${count.toLocaleString("en")} more characters, which the tables hold`)] : []);

  function folded(summary, ...content) {
    return element("details", "", element("summary", "", summary), ...content);
  }

  function passages(places) {
    const entries = places.map((place) => data.passages[place]);
    const items = entries.map((entry) => element("li", "", link(entry), text(entry.text), ...rest(entry.left_out)));
    return folded(`${entries.length} passage${entries.length === 1 ? "" : "s"}`, element("ol", "", ...items));
  }

  function calls(entries) {
    const items = entries.map((call) => {
      const name = element("b", "", call.tool || "no tool");
      const line = element("p", "", `Round ${call.round}: `, name, ` ${call.arguments} → ${call.outcome}`);
      return element("li", "", line, text(call.result), ...rest(call.left_out));
    });
    return folded(`${entries.length} call${entries.length === 1 ? "" : "s"}`, element("ol", "", ...items));
  }

  function grades(entries) {
    const items = entries.map((each) => {
      const item = element("li", "", element("b", "", each.grade || "no grade"), ` by ${each.judge || "the answers’ source"}`);
      if (each.judge_text) item.append(text(each.judge_text));
      return item;
    });
    return element("ul", "", ...items);
  }

  function facts(run, row) {
    const tokens = run.input_tokens === null ? [] : [`${run.input_tokens} + ${run.output_tokens} tokens`];
    if (run.reasoning_tokens) tokens.push(`${run.reasoning_tokens} of them reasoning`);
    if (run.confidence !== null) tokens.unshift(`confidence ${run.confidence}`);
    const told = [row.language, row.knowledge, row.domain, row.difficulty, row.source, run.setting, `repeat ${run.repeat}`, ...tokens];
    const made = element("p", "facts", element("b", "", run.fate), ...told.filter(Boolean).map((fact) => element("span", "", fact)));
    const permanent = element("a", "", row.id);
    permanent.href = `#row=${encodeURIComponent(row.id)}`;
    permanent.title = "Link to the answers to this row";
    made.append(permanent);
    return made;
  }

  function article(run) {
    const row = data.rows[run.row];
    const made = element("article", `row ${FATES[run.fate] || "unusable"}`);
    made.append(facts(run, row));
    const question = text(row.question, row.language);
    question.classList.add("question");
    made.append(question);
    const terms = element("dl", "");
    const add = (name, ...content) => terms.append(element("dt", "", name), element("dd", "", ...content));
    add("Gold answer", text(row.answer, row.language));
    add("Prediction", text(run.prediction, row.language));
    const graded = GRADED.has(run.fate);
    if (run.reason) add(graded ? "Note" : run.fate === "ungraded" ? "Why ungraded" : "Why unusable", text(run.reason));
    if (run.grades.length) add("Judges", grades(run.grades));
    else if (run.judge_text || !graded) add("Judge’s words", text(run.judge_text));
    if (run.tool_calls.length) add("Tool calls", calls(run.tool_calls));
    if (run.passages.length) add("Evidence", passages(run.passages));
    if (row.references.length) add("References", element("ul", "", ...row.references.map((entry) => element("li", "", link(entry)))));
    made.append(terms);
    return made;
  }

  function show() {
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(page, pages - 1);
    const part = found.slice(page * PAGE, (page + 1) * PAGE);
    list.replaceChildren(...part.map(article));
    const range = part.length ? `${page * PAGE + 1}–${page * PAGE + part.length} of ` : "";
    browser.querySelector(":scope > .found").textContent = `${range}${found.length.toLocaleString("en")} answers`;
    pager.hidden = pages === 1;
    pager.querySelector("span").textContent = `Page ${page + 1} of ${pages.toLocaleString("en")}`;
    pager.querySelector("[name=previous]").disabled = page === 0;
    pager.querySelector("[name=next]").disabled = page === pages - 1;
  }

  // What is searched: the row's texts once, and each answer's.
  function index() {
    const lower = (...parts) => parts.join("\n").toLowerCase();
    haystacks = haystacks || {
      rows: data.rows.map((row) => lower(row.id, row.question, row.answer)),
      runs: data.runs.map((run) => lower(run.prediction, run.judge_text, run.reason)),
    };
    return haystacks;
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

  function matching() {
    const id = wantedRow();
    single.hidden = id === null;
    form.hidden = id !== null;
    if (id !== null) {
      single.querySelector("code").textContent = id;
      return data.runs.filter((run) => data.rows[run.row].id === id);
    }
    const names = Object.keys(valueOf).filter((name) => form.elements[name].value);
    const needle = form.elements.text.value.trim().toLowerCase();
    const { rows, runs } = needle ? index() : { rows: [], runs: [] };
    const inRow = rows.map((text) => text.includes(needle));
    return data.runs.filter(
      (run, number) =>
        names.every((name) => valueOf[name](run) === form.elements[name].value) &&
        (!needle || inRow[run.row] || runs[number].includes(needle))
    );
  }

  function filter() {
    found = matching();
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
  window.addEventListener("hashchange", () => {
    // Other places on the page are linked too.
    if (wantedRow() === null && single.hidden) return;
    filter();
    if (wantedRow() !== null) browser.scrollIntoView();
  });
  filter();
  if (wantedRow() !== null) browser.scrollIntoView();
  // Before the first key stroke, and after the page is shown.
  setTimeout(index, 300);
})();
