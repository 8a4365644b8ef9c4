// Keys and drafts. Everything can be done without.
"use strict";

const form = document.querySelector("form[data-draft]");

const isText = (element) =>
  element instanceof HTMLTextAreaElement || (element instanceof HTMLInputElement && !["radio", "checkbox"].includes(element.type));
const isVisible = (element) => element.getClientRects().length > 0;

// The key as it is printed on the page, whatever letters the keyboard types (Cyrillic ones, say).
function keyOf(event) {
  if (/^[a-z?]$/i.test(event.key)) return event.key.toLowerCase();
  const place = /^(?:Key([A-Z])|(?:Digit|Numpad)([0-9]))$/.exec(event.code);
  return place ? (place[1] ?? place[2]).toLowerCase() : event.key;
}

// Of several things with one key, the first question that has no answer yet.
function meant(key) {
  const found = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].filter(isVisible);
  if (found.length < 2) return found[0];
  return found.find((each) => !each.form.querySelector(`input[name="${CSS.escape(each.name)}"]:checked`));
}

function send() {
  const part = document.activeElement?.closest?.("[data-part]") ?? form?.parentElement.querySelector("[data-default]");
  (part?.querySelector("button.main") ?? part?.querySelector("button"))?.click();
}

document.addEventListener("keydown", (event) => {
  // Enter and digits choose characters while an input method composes.
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    send();
    return;
  }
  if (event.key === "Escape") document.activeElement?.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isText(event.target)) return;
  const element = meant(keyOf(event));
  if (!element) return;
  event.preventDefault();
  element.focus();
  if (isText(element)) element.setSelectionRange(element.value.length, element.value.length);
  else element.click();
});

if (form) {
  const PAUSE_MS = 500;
  const kept = form.querySelector("output");
  let timer, sent = false;

  const filledIn = () => new URLSearchParams(new FormData(form));

  async function keep() {
    timer = undefined;
    try {
      const answer = await fetch(form.dataset.draft, { method: "POST", body: filledIn(), keepalive: true });
      kept.textContent = answer.ok ? "Draft kept." : "The draft could not be kept: reload the page.";
    } catch {
      kept.textContent = "The server is not there: what you type now is not kept.";
    }
  }

  form.addEventListener("input", () => {
    kept.textContent = "";
    clearTimeout(timer);
    timer = setTimeout(keep, PAUSE_MS);
  });
  document.addEventListener("submit", (event) => {
    // Twice sent is once too often.
    if (sent) event.preventDefault();
    sent = true;
    const waiting = timer !== undefined;
    clearTimeout(timer);
    timer = undefined;
    // Skipped or left for another: what is typed here stays a draft.
    if (waiting && event.target !== form) keep();
  });
  // Back from the next page, which browsers may show as it was left.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden" && timer !== undefined) {
      clearTimeout(timer);
      keep();
    }
  });
}
