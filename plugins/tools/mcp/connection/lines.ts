/** Lines out of bytes, none of them longer than a bound. */

export interface Lines {
  /** The lines that end in this chunk; must be read to the end. */
  of(chunk: Uint8Array): Generator<string>
  /** A line was too long: nothing is read from then on. */
  isOver(): boolean
}

const newline = 0x0a

export const createLines = (most: number): Lines => {
  let [pieces, bytes, isOver]: [Uint8Array[], number, boolean] = [[], 0, false]
  const keep = (piece: Uint8Array): boolean => {
    pieces.push(piece)
    bytes += piece.length
    isOver = bytes > most
    if (isOver) pieces = []
    return !isOver
  }
  return {
    isOver: () => isOver,
    *of(chunk) {
      let from = 0
      for (let end = chunk.indexOf(newline); end >= 0 && !isOver; end = chunk.indexOf(newline, from)) {
        if (!keep(chunk.subarray(from, end))) return
        const line = Buffer.concat(pieces).toString('utf8')
        ;[pieces, bytes, from] = [[], 0, end + 1]
        yield line.endsWith('\r') ? line.slice(0, -1) : line
      }
      if (!isOver && from < chunk.length) keep(chunk.subarray(from))
    },
  }
}
