// What every page adds when scripts run: entering by a link, keys, typed text that survives a reload. Pages work without it.
export const byId = (id) => document.getElementById(id);
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];
export const post = (path, body) =>
  fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/** A page as the server would show it now. */
export async function look(address = location.href) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : undefined;
}

// The link's secret is behind `#`, so it is never sent with a request; it leaves the address bar at once.
if (location.pathname === "/enter" && location.hash.length > 1) {
  const secret = location.hash.slice(1);
  history.replaceState(null, "", "/enter");
  post("/enter", { secret }).then(async (answer) => {
    if (answer.ok) location.replace("/");
    else byId("knock").textContent = await answer.text();
  });
}

/** Keys by what they are called; none of them acts while somebody writes. */
export const KEYS = {
  "/": () => byId("q")?.focus(),
  "?": () => byId("keys")?.showModal(),
  ".": () => navigator.clipboard.writeText(document.querySelector("footer.cmd code").textContent),
};

/** The light: the system's, or the one that was chosen here. */
const LIGHTS = ["", "light", "dark"];
const theme = byId("theme");
function showLight() {
  theme.textContent = { light: "Light", dark: "Dark" }[document.documentElement.dataset.theme] ?? "Auto";
  theme.setAttribute("aria-label", `Theme: ${theme.textContent}`);
}
if (theme) {
  theme.hidden = false;
  showLight();
  theme.addEventListener("click", () => {
    const next = LIGHTS[(LIGHTS.indexOf(document.documentElement.dataset.theme) + 1) % LIGHTS.length];
    document.documentElement.dataset.theme = next;
    localStorage.setItem("pawl:theme", next);
    showLight();
  });
}

/** After `g`, the next key says where to. */
const { task } = document.body.dataset;
const PLACES = { h: "/", d: task && `/t/${task}/diff` };
let isGoing = false;

function going(key) {
  const to = isGoing ? PLACES[key] : undefined;
  isGoing = key === "g";
  return to === undefined ? undefined : () => location.assign(to);
}

function pressing(key) {
  const named = all("[data-press]").find((one) => one.dataset.press === key);
  return named && (() => named.click());
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select"))
    return;
  // Links and buttons name their own key in data-press.
  const act =
    going(event.key) ??
    KEYS[event.key === "ArrowDown" || event.key === "ArrowUp" ? `Shift${event.key}` : event.key] ??
    pressing(event.key);
  if (!act || (event.key.startsWith("Arrow") && !event.shiftKey)) return;
  event.preventDefault();
  act();
});

// What is typed into a form is kept until the form is accepted, which shows in a redirect to another page.
const keptName = (field) => `pawl:typed:${field.form.dataset.form ?? location.pathname}:${field.name}`;
const sent = sessionStorage.getItem("pawl:sent");
if (sent && !document.querySelector(".refusal") && location.pathname !== new URL(sent, location).pathname)
  for (const name of Object.keys(localStorage))
    if (name.startsWith(`pawl:typed:${sent}:`)) localStorage.removeItem(name);
sessionStorage.removeItem("pawl:sent");
for (const field of all("[data-keep]")) {
  const kept = localStorage.getItem(keptName(field));
  if (kept !== null && field.value === field.defaultValue) field.value = kept;
}
addEventListener("input", ({ target }) => {
  if (target.matches("[data-keep]")) localStorage.setItem(keptName(target), target.value);
});
// Whoever cancels does not want to find it again, in a form that may show something newer by then.
addEventListener("click", ({ target }) => {
  const form = target.closest("form.act .row a.btn")?.closest("form");
  if (form) for (const field of all("[data-keep]", form)) localStorage.removeItem(keptName(field));
});
addEventListener("submit", ({ target }) => {
  sessionStorage.setItem("pawl:sent", target.dataset.form ?? location.pathname);
});

/** The parts that only some pages need. */
const more = (path) => import(path);
if (location.pathname !== "/enter") more("/live.js");
if (byId("sign") || byId("enrol")) more("/sign.js");
if (byId("diff")) more(byId("verdict") ? "/review.js" : "/diff.js");
// A review that was recorded leaves nothing behind that would be sent again.
if (new URLSearchParams(location.search).has("sent"))
  localStorage.removeItem(`pawl:review:${document.body.dataset.task}`);
