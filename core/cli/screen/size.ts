/** The size of the terminal where nobody tells that it is another. */

/** Asks for it anew, as Node does where it hears of a resize; streams tell if it is another. */
export const readSize = (): void => void process.emit('SIGWINCH', 'SIGWINCH')

/** A process that is stopped is not told of a resize. */
export const watchSize = (): void => void process.on('SIGCONT', readSize)
