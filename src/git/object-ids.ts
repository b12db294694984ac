export const SHA1_LENGTH = 40;
export const SHA256_LENGTH = 64;

/** What git writes where there is no commit, in a repository with ids like this one. */
export const nothingLike = (id: string) => "0".repeat(id.length);

/** Every repository knows this tree, whether it has it or not. */
export const emptyTree = (length: number) =>
  length === SHA256_LENGTH
    ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** How long ids are in a repository of this format. */
export const idLength = (format: string) => (format === "sha256" ? SHA256_LENGTH : SHA1_LENGTH);
