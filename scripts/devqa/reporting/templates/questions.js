"use strict";
// The browser of questions: facts by agent, and the answers (browse.js).
(function () {
  const { data, form, element, text, away, rest, permanent, offer, start } = browsing;
  if (!data) return;
  const OUTCOMES = ["all facts", "some facts", "no fact", "no grade"];
  const GROUND_TRUTH = "ground_truth";
  const SEGMENTS = ["repository", "scope", "core", "searchable", "difficulty", "blocks", "files"];
  const names = data.agents.map((each) => (["command", GROUND_TRUTH].includes(each.setting) ? each.agent : `${each.agent}, ${each.setting}`));
  // Of each question the answers of each agent, one for each repeat.
  const answers = data.rows.map(() => names.map(() => []));
  data.runs.forEach((run) => answers[run.row][run.agent].push(run));
  let haystacks = null;

  // Places in a repository are linked where its address says how.
  function link(label, row, place) {
    const site = /^https:\/\/github\.com\/[\w.-]+\/[\w.-]+?(?=\.git$|\/?$)/.exec(row.url || "");
    if (!site) return label;
    return away(label, `${site[0]}/${place}`);
  }

  const encoded = (path) => path.split("/").map(encodeURIComponent).join("/");

  function pull(row) {
    const commit = row.pull_id.split("@").pop();
    const label = row.number === null ? commit.slice(0, 10) : `#${row.number}`;
    return link(label, row, row.number === null ? `commit/${encodeURIComponent(commit)}` : `pull/${row.number}`);
  }

  function mean(values) {
    return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  }

  const graded = (runs) => runs.filter((run) => run.fate === "graded");
  const recallOf = (runs) => mean(graded(runs).map((run) => run.recall));
  const figure = (value) => (value === null ? "–" : value.toFixed(2));

  function outcome(runs) {
    const recall = recallOf(runs);
    return recall === null ? "no grade" : recall >= 1 ? "all facts" : recall > 0 ? "some facts" : "no fact";
  }

  function cell(runs, place) {
    const known = graded(runs).map((run) => run.found[place]);
    const yes = known.filter((each) => each === true).length;
    if (!known.length) return element("td", "", "–");
    const said = known.length > 1 ? `${yes}/${known.length}` : yes ? "✓" : "✗";
    const made = element("td", yes === known.length ? "yes" : yes ? "part" : "", said);
    made.title = yes === known.length ? "found" : yes ? "found in some repeats" : "not found";
    return made;
  }

  function column(agent) {
    const { agent: name, setting } = data.agents[agent];
    const below = name === setting ? [] : [element("span", "spread", setting)];
    return element("th", "", name, ...below);
  }

  function facts(row, runs, shown) {
    const head = element("tr", "", element("th", "", "Fact"), ...shown.map(column));
    [...head.cells].forEach((each) => { each.scope = "col"; });
    const lines = row.facts.map((fact, place) => {
      const name = element("th", "", fact.fact);
      if (fact.importance !== "vital") name.append(" ", element("span", "tag", fact.importance));
      name.scope = "row";
      return element("tr", "", name, ...shown.map((agent) => cell(runs[agent], place)));
    });
    const last = element("th", "", "Recall");
    last.scope = "row";
    const foot = element("tr", "", last, ...shown.map((agent) => element("td", "", figure(recallOf(runs[agent])))));
    const table = element("table", "found-facts", element("thead", "", head), element("tbody", "", ...lines), element("tfoot", "", foot));
    const made = element("div", "scroll", table);
    made.tabIndex = 0;
    made.setAttribute("role", "region");
    made.setAttribute("aria-label", "Facts, and which agent has them");
    return made;
  }

  function judged(run) {
    const facts = data.rows[run.row].facts;
    const mark = (found) => (found === null ? "?" : found ? "✓" : "✗");
    return element("ul", "", ...facts.map((fact, place) => element("li", "", `${mark(run.found[place])} ${fact.fact} — ${run.why[place] || "no reason"}`)));
  }

  function answer(run, repeats) {
    const told = [run.fate === "graded" ? `recall ${figure(run.recall)}` : run.fate];
    if (repeats > 1) told.push(`repeat ${run.repeat}`);
    if (run.seconds !== null) told.push(`${run.seconds.toFixed(1)} s`);
    if (run.input_tokens !== null) told.push(`${run.input_tokens} + ${run.output_tokens} tokens`);
    if (run.exit_code) told.push(`exit code ${run.exit_code}`);
    const made = element("li", "answer", element("p", "", element("b", "", names[run.agent]), ` ${told.join(" · ")}`));
    if (run.reason) made.append(element("p", "soft", run.reason));
    made.append(text(run.answer));
    if (run.why.length) made.append(folded("What the judge says", () => judged(run)));
    made.append(...rest(run.left_out));
    return made;
  }

  // What is folded is made when it is opened.
  function folded(summary, content) {
    const made = element("details", "", element("summary", "", summary));
    made.addEventListener("toggle", () => made.open && made.childElementCount === 1 && made.append(content()));
    return made;
  }

  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  function told(row) {
    const parts = [row.repository, `${row.scope}`, row.core === "yes" ? "core" : "", row.searchable === "yes" ? "searchable" : "", row.difficulty];
    parts.push(`${counted(row.n_context_nodes, "block")} in ${counted(row.n_context_files, "file")}`);
    const made = element("p", "facts", ...parts.filter(Boolean).map((part) => element("span", "", part)));
    made.append(element("span", "", pull(row), ` ${row.title || ""}`));
    made.append(permanent(row.id, "Link to this question"));
    return made;
  }

  function nodes(row) {
    const rests = new Set(row.nodes);
    const items = row.context.map((block) => {
      const place = `blob/${encodeURIComponent(row.commit)}/${encoded(block.path)}#L${block.start_line}-L${block.end_line}`;
      return element("li", rests.has(block.node) ? "rests" : "", link(element("code", "", block.node), row, place), ` lines ${block.start_line}–${block.end_line}`);
    });
    return element("ul", "nodes", ...items);
  }

  function article(index) {
    const row = data.rows[index];
    const runs = answers[index];
    const chosen = form.elements.agent.value;
    const shown = names.map((_, agent) => agent).filter((agent) => chosen === "" || agent === Number(chosen));
    const made = element("article", "row question", told(row));
    const question = text(row.question);
    question.classList.add("question");
    made.append(question);
    const terms = element("dl", "");
    const add = (name, ...content) => terms.append(element("dt", "", name), element("dd", "", ...content));
    add("True answer", text(row.answer));
    add("Facts", facts(row, runs, shown));
    const own = shown.flatMap((agent) => runs[agent]);
    const list = () => element("ul", "", ...own.map((run) => answer(run, runs[run.agent].length)));
    if (own.length) add("Answers", folded(`${own.length} answer${own.length === 1 ? "" : "s"}`, list));
    if (row.context.length) {
      add("Context", folded(`${row.nodes.length} of ${row.context.length} blocks are what the question rests on`, () => nodes(row)));
    }
    made.append(terms);
    return made;
  }

  // What is searched: of each question its own texts and those of all answers.
  function index() {
    haystacks = haystacks || data.rows.map((row, place) => {
      const said = answers[place].flat().map((run) => `${run.answer}\n${run.reason}`);
      const own = [row.id, row.pull_id, row.title, row.question, row.answer, ...row.facts.map((fact) => fact.fact)];
      return [...own, ...row.context.map((block) => block.node), ...said].join("\n").toLowerCase();
    });
    return haystacks;
  }

  function matcher() {
    const wanted = SEGMENTS.filter((name) => form.elements[name].value);
    const needle = form.elements.text.value.trim().toLowerCase();
    const texts = needle ? index() : [];
    const agent = form.elements.agent.value;
    const became = form.elements.outcome.value;
    const asked = (place) => (agent === "" ? answers[place] : [answers[place][Number(agent)]]);
    return (place) =>
      wanted.every((name) => data.rows[place][name] === form.elements[name].value) &&
      (!became || asked(place).some((runs) => outcome(runs) === became)) &&
      (!needle || texts[place].includes(needle));
  }

  SEGMENTS.forEach((name) => offer(name, data.rows.map((row) => row[name])));
  form.elements.agent.replaceChildren(new Option("all", ""), ...names.map((name, agent) => new Option(name, String(agent))));
  form.elements.outcome.replaceChildren(new Option("any", ""), ...OUTCOMES.map((each) => new Option(each, each)));
  const places = data.rows.map((_, place) => place);
  start({ items: places, noun: "questions", idOf: (place) => data.rows[place].id, article, matcher, index });
})();
