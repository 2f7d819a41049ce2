/** Lines out of bytes, none of them longer than a bound. */

export interface Lines {
  /** False once a line was too long: nothing is read from then on. */
  add(chunk: Buffer): boolean
}

const newline = 0x0a

/** `hear` must not throw. */
export const createLines = (most: number, hear: (line: string) => void): Lines => {
  let [pieces, bytes, isOver]: [Buffer[], number, boolean] = [[], 0, false]
  const keep = (piece: Buffer): boolean => {
    pieces.push(piece)
    bytes += piece.length
    isOver = bytes > most
    if (isOver) pieces = []
    return !isOver
  }
  return {
    add(chunk) {
      let from = 0
      for (let end = chunk.indexOf(newline); end >= 0 && !isOver; end = chunk.indexOf(newline, from)) {
        if (!keep(chunk.subarray(from, end))) return false
        const line = Buffer.concat(pieces).toString('utf8')
        ;[pieces, bytes, from] = [[], 0, end + 1]
        hear(line.endsWith('\r') ? line.slice(0, -1) : line)
      }
      return !isOver && (from === chunk.length || keep(chunk.subarray(from)))
    },
  }
}
