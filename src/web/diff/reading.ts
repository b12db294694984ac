/** How somebody wants to read a diff. All of it is in the address, so it can be linked to and works without script. */
export interface Wish {
  /** The run whose saved diff it is; undefined for the latest. */
  run: string | undefined;
  /** Old and new side by side. */
  split: boolean;
  ignoreSpace: boolean;
  /** Only what changed since the reader's last look. */
  sinceLook: boolean;
}

export const wishOf = (query: URLSearchParams): Wish => ({
  run: query.get("run") ?? undefined,
  split: query.get("view") === "split",
  ignoreSpace: query.get("space") === "ignore",
  sinceLook: query.get("since") === "look",
});

/** The same choice as a query; defaults are left out. */
export function queryOf({ run, split, ignoreSpace, sinceLook }: Wish): URLSearchParams {
  const said = Object.entries({
    run,
    view: split && "split",
    space: ignoreSpace && "ignore",
    since: sinceLook && "look",
  });
  return new URLSearchParams(said.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}
