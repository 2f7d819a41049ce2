/** What a command has in its environment beside what is passed on of the daemon's. */

/** Names the marker that every process of one command carries. */
export const markerName = 'SERVICE_SHELL_TASK_ID'

/** Nobody sits at a terminal: nothing waits for a key, and nothing draws. */
export const commandEnvironment = (
  passed: Readonly<Record<string, string>>,
  marker: string,
): Record<string, string> => ({
  ...passed,
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  [markerName]: marker,
})
