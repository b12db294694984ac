import { audit } from "../../ops/audit.ts";
import { page } from "../exchange.ts";
import { html } from "../html.ts";
import { layout, short, tag } from "../layout.ts";
import { clock } from "../times.ts";
import type { View } from "./view.ts";

const MOST = 100;

export const auditView: View = async ({ ask }) => {
  const { data } = await ask(audit, {});
  const { branches, findings, clean } = data.audit;
  const main = html`<div class="title"><h1>Audit</h1>${clean ? tag("everything is explained", "ok") : tag("look at this", "bad")}<span class="sp"></span><a class="btn" href="/approvers">Approvers</a></div>
${findings.map((one) => html`<article class="card"><header>${tag(one.code, "bad")}<span>${one.where} of ${one.repo}</span></header><p>${one.message}</p></article>`)}
${branches.map(
  (branch) =>
    html`<section class="prose"><h2>${branch.ref.replace("refs/heads/", "")} of ${branch.repo}</h2><p class="dim">${Object.entries(
      branch.counts,
    )
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${count} ${name}`)
      .join(
        ", ",
      )}</p><table class="sum"><caption class="vh">Commits of ${branch.ref} since its baseline</caption><thead><tr><th scope="col">Commit</th><th scope="col">Class</th><th scope="col">By</th><th scope="col">When</th><th scope="col">Subject</th></tr></thead><tbody>${branch.commits.slice(0, MOST).map(({ commit, class: kind, by }) => html`<tr><td class="m">${short(commit.id)}</td><td>${tag(kind, kind === "unexplained" ? "bad" : "ok")}</td><td>${by}</td><td>${clock(commit.time)}</td><td>${commit.subject}</td></tr>`)}</tbody></table></section>`,
)}`;
  return page(layout({ title: "Audit", section: "audit", command: "pawl audit", main, kind: "narrow" }));
};
