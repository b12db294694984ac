import { branchOfRef } from "../../model/naming.ts";
import { audit } from "../../ops/audit.ts";
import { page } from "../exchange.ts";
import { type Html, html } from "../html.ts";
import { layout, short, tag } from "../layout.ts";
import { clock } from "../times.ts";
import type { View } from "./view.ts";

const MOST = 100;

export const auditView: View = async ({ ask }) => {
  const { data } = await ask(audit, {});
  const { branches, findings, clean } = data.audit;
  const main = html`<div class="title"><h1>Audit</h1>${clean ? tag("all explained", "ok") : tag("needs a look", "bad")}<span class="sp"></span><a class="btn" href="/approvers">Approvers</a></div>
${findings.map((one) => html`<article class="card"><header>${tag(one.code, "bad")}<span>${one.where} of ${one.repo}</span></header><p>${one.message}</p></article>`)}
${branches.map(branchSection)}`;
  return page(layout({ title: "Audit", section: "audit", command: "pawl audit", main, kind: "home" }));
};

type Branch = Parameters<typeof audit.text>[0]["audit"]["branches"][number];

function branchSection({ ref, repo, counts, commits }: Branch): Html {
  const counted = Object.entries(counts).filter(([, count]) => count > 0);
  return html`<section class="prose"><h2>${branchOfRef(ref)} of ${repo}</h2><p class="dim">${counted.map(([name, count]) => `${count} ${name}`).join(", ")}</p>${
    commits.length === 0
      ? html`<p class="empty">No commits since the baseline.</p>`
      : html`<table class="sum"><caption class="vh">Commits of ${ref} of ${repo} since its baseline</caption><thead><tr><th scope="col">Commit</th><th scope="col">Class</th><th scope="col">By</th><th scope="col">Signed</th><th scope="col">When</th><th scope="col">Subject</th></tr></thead><tbody>${commits.slice(0, MOST).map(commitRow)}</tbody></table>${commits.length > MOST && html`<p class="quiet">The first ${MOST} of ${commits.length} commits. <code>pawl audit</code> shows all of them.</p>`}`
  }</section>`;
}

function commitRow({ commit, class: kind, by, signed, message }: Branch["commits"][number]): Html {
  const task = /^(T\d+)\//.exec(by ?? "")?.[1];
  const who = signed && `${signed.name} with ${signed.key} (${signed.level})`;
  return html`<tr><td class="m">${short(commit.id)}</td><td>${tag(kind, ["unexplained", "unapproved"].includes(kind) ? "bad" : "ok")}</td><td>${task === undefined ? by : html`<a class="m" href="/t/${task}">${by}</a>`}</td><td>${who ?? html`<span class="dim">not signed</span>`}</td><td>${clock(commit.time)}</td><td class="about">${commit.subject}${message !== undefined && html`<div class="dim">${message}</div>`}</td></tr>`;
}
