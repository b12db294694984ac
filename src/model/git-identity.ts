/** What settles it where git knows no name for a commit. */
export const TELL_GIT_WHO =
  'git config --global user.name "Your Name"\ngit config --global user.email you@example.com';
