"use strict";
// The browser of single answers (browse.js).
(function () {
  const { data, form, element, text, away, rest, permanent, offer, start } = browsing;
  if (!data) return;
  const FATES = { CORRECT: "correct", INCORRECT: "incorrect", NOT_ATTEMPTED: "not-attempted", ungraded: "ungraded" };
  const GRADED = new Set(["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]);
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

  function link(entry) {
    const label = entry.title || entry.url || "no address";
    if (!/^https?:\/\//i.test(entry.url || "")) return label;
    const made = away(label, entry.url);
    made.title = entry.url;
    return made;
  }

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
    made.append(permanent(row.id, "Link to the answers to this row"));
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

  // What is searched: the row's texts once, and each answer's.
  function index() {
    const lower = (...parts) => parts.join("\n").toLowerCase();
    haystacks = haystacks || {
      rows: data.rows.map((row) => lower(row.id, row.question, row.answer)),
      runs: data.runs.map((run) => lower(run.prediction, run.judge_text, run.reason)),
    };
    return haystacks;
  }

  function matcher() {
    const names = Object.keys(valueOf).filter((name) => form.elements[name].value);
    const needle = form.elements.text.value.trim().toLowerCase();
    const { rows, runs } = needle ? index() : { rows: [], runs: [] };
    const inRow = rows.map((text) => text.includes(needle));
    return (run, number) =>
      names.every((name) => valueOf[name](run) === form.elements[name].value) &&
      (!needle || inRow[run.row] || runs[number].includes(needle));
  }

  const order = Object.keys(FATES);
  const ofFate = (value) => order.indexOf(value) + 1 || order.length + 1;
  Object.keys(valueOf).forEach((name) => offer(name, data.runs.map(valueOf[name]), name === "fate" ? ofFate : undefined));
  start({ items: data.runs, noun: "answers", idOf: (run) => data.rows[run.row].id, article, matcher, index });
})();
