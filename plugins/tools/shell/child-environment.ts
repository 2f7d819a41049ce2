/** What a command has in its environment: what is passed on of the daemon's, and that nobody sits at a terminal. */
export const commandEnvironment = (passed: Readonly<Record<string, string>>): Record<string, string> => ({
  ...passed,
  // Nothing waits for a key, and nothing draws.
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
})
