// What happens elsewhere, told by the one connection of a tab that is looked at. Nothing moves under the reader: what changed
// in place is replaced in place, and anything that would move rows is offered.
import { all, byId, look } from "/page.js";

const [mark, lost] = [byId("live"), byId("lost")];
const offer = byId("offer");
const log = document.querySelector("#log[data-stream]");
const task = document.body.dataset.task;
let address = log?.dataset.stream ?? "/events";
let [source, last] = [undefined, ""];

function open() {
  if (source || document.hidden) return;
  source = new EventSource(last ? `${address}?last=${encodeURIComponent(last)}` : address);
  source.onopen = () => {
    if (ended || !lost.hidden) soon(0);
    [mark.hidden, lost.hidden] = [false, true];
  };
  source.onerror = () => {
    [mark.hidden, lost.hidden] = [true, false];
    // A browser reconnects by itself unless it was refused: then `pawl ui` was restarted, and its new link opens in any tab.
    const isRefused = source.readyState === EventSource.CLOSED;
    lost.textContent = isRefused ? "open pawl ui's new link" : "not connected";
    if (!isRefused) return;
    close();
    setTimeout(open, AGAIN);
  };
  for (const kind of ["change", "look", "lines", "end"])
    source.addEventListener(kind, (event) => {
      last = event.lastEventId;
      HEARD[kind](JSON.parse(event.data));
    });
}

const AGAIN = 2_000;

function close() {
  source?.close();
  source = undefined;
  mark.hidden = true;
}

let ended = false;
const HEARD = {
  change: (events) => {
    if (events.some((one) => !task || !one.task || one.task === task)) soon(0);
  },
  look: () => soon(0),
  lines: (lines) => {
    addLines(lines);
    soon(2_000);
  },
  end: () => {
    ended = true;
    close();
    byId("following").textContent = "ended";
    // What the records say of the end is written a moment later, and told like everything else.
    [address, last] = ["/events", ""];
    open();
  },
};

/** Several changes are fetched together; changes during a fetch cause one more after it. Never two at a time. */
let [isWaiting, isLooking, again] = [false, false, false];
async function soon(ms) {
  again = isLooking;
  if (isLooking || isWaiting) return;
  isWaiting = true;
  await new Promise((done) => setTimeout(done, ms));
  [isWaiting, isLooking] = [false, true];
  const fresh = await look().catch(() => undefined);
  if (fresh) for (const part of all("[data-live]")) renew(part, fresh.getElementById(part.id));
  if (fresh) offerDiff(fresh.getElementById("diff"));
  isLooking = false;
  if (again) soon(LATER);
}
const LATER = 100;

function renew(part, fresh) {
  if (!fresh || part.innerHTML === fresh.innerHTML || part.contains(document.activeElement)) return;
  if (part.dataset.live !== "rows") {
    part.replaceChildren(...fresh.childNodes);
    return;
  }
  const [rows, others] = [all("[data-key]", part), all("[data-key]", fresh)];
  const keys = (list) => list.map((row) => row.dataset.key).join("\n");
  if (keys(rows) !== keys(others)) {
    show("There is something new.", () => part.replaceChildren(...fresh.childNodes));
    return;
  }
  for (const [at, row] of rows.entries())
    if (row.innerHTML !== others[at].innerHTML) row.replaceChildren(...others[at].childNodes);
}

function offerDiff(fresh) {
  const shown = byId("diff");
  if (fresh && shown && fresh.dataset.saved !== shown.dataset.saved)
    show("A newer diff was saved.", () => location.reload());
}

function show(words, act) {
  offer.querySelector("span").textContent = words;
  offer.hidden = false;
  offer.querySelector("button").onclick = () => {
    offer.hidden = true;
    act();
  };
}

// The log of a run. The reader who scrolls up is left where they are.
let [isFirst, isPaused] = [true, false];
function addLines(lines) {
  const follows = !isPaused && log.scrollTop + log.clientHeight >= log.scrollHeight - 40;
  const page = new DOMParser().parseFromString(
    lines.map((line) => `<span class="ln">${line}</span>`).join("\n"),
    "text/html",
  );
  if (isFirst) log.replaceChildren();
  log.append(...page.body.childNodes, "\n");
  if (follows || isFirst) log.scrollTop = log.scrollHeight;
  isFirst = false;
  byId("following").textContent = isPaused ? "paused" : "following";
}
const pause = byId("pause");
if (pause) {
  pause.hidden = false;
  pause.addEventListener("click", () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? "Follow" : "Pause";
    byId("following").textContent = isPaused ? "paused" : "following";
    if (!isPaused) log.scrollTop = log.scrollHeight;
  });
}

// A question on the terminal: the page looks until it is answered. The next look waits for the one before: a slow machine
// would else be asked faster than it answers, and nothing else would get through.
async function follow() {
  const fresh = await look().catch(() => undefined);
  const state = (page) => page.querySelector("[data-poll]")?.dataset.poll;
  if (fresh && state(fresh) !== state(document)) {
    location.reload();
    return;
  }
  const said = fresh?.querySelector(".said");
  if (said) document.querySelector(".said").textContent = said.textContent;
  setTimeout(follow, 700);
}
if (document.querySelector("[data-poll]")) setTimeout(follow, 700);

document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
addEventListener("pagehide", close);
open();
