/** Within so many ms of the first one a SIGINT is the same key: npm passes on what the terminal has sent to all. */
export const sameKeyMs = 500
