/** Calls to the system that wait for the end of the turn, each with what it keeps in memory until then. */
export const waitingCalls = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'FSReqCallback').length
