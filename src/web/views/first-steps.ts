import { type Html, html } from "../html.ts";

/** What a project without a task shows: the way from nothing to the first merge. */
export const firstSteps = (
  installed: boolean,
): Html => html`<section class="first" aria-labelledby="first"><h2 id="first">No tasks yet. Five steps to your first merge:</h2>
<ol>
${!installed && html`<li><b>Install pawl</b> into this repository, so that <code>main</code> is guarded.<code class="line">pawl install</code></li>`}
<li><b>Write down what you want.</b> A task is what an agent works on and what you review in the end. <a href="/new/task">Create the first one here</a>, or<code class="line">pawl task new "Fix the typo in the docs"</code></li>
<li><b>Give it to an agent</b>, in a worktree of its own.<code class="line">pawl run T1 --agent claude</code></li>
<li><b>Read the diff here</b>, leave findings on lines, finish the review.</li>
<li><b>Say yes</b> on the terminal that runs <code>pawl ui</code>. A click alone approves nothing.</li>
</ol></section>`;
