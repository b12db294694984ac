import type { InputOptions } from "rolldown";

export const textFiles: Required<Pick<InputOptions, "moduleTypes" | "plugins">>;
