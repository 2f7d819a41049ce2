/** Keeps the beginning and the end of a stream of any length. */
export interface Captured {
  readonly text: string
  /** What stands before the part that was left out; where nothing was, the text. */
  readonly begin: string
  readonly bytes: number
  readonly truncated: boolean
}
export interface Capture {
  add(chunk: Uint8Array): void
  read(): Captured
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** Without the part of a character at the beginning. */
const trimStart = (bytes: Buffer): Buffer => {
  let at = 0
  while (at < 3 && isContinuation(bytes[at])) at += 1
  return bytes.subarray(at)
}
/** Without a character that is cut off at the end. */
const trimEnd = (bytes: Buffer): Buffer => {
  let at = bytes.length - 1
  while (at > bytes.length - 4 && isContinuation(bytes[at])) at -= 1
  const lead = bytes[at] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return length > bytes.length - at ? bytes.subarray(0, at) : bytes
}

export const createCapture = (limit: number): Capture => {
  const half = Math.floor(limit / 2)
  const head: Buffer[] = []
  let headBytes = 0
  let tail: Buffer[] = []
  let tailBytes = 0
  let bytes = 0
  const addTail = (chunk: Buffer): void => {
    tail.push(chunk.length > half ? Buffer.from(chunk.subarray(-half)) : chunk)
    tailBytes += Math.min(chunk.length, half)
    // Squeezed only when it holds twice its due, so that a flood of small chunks costs little.
    if (tailBytes > 2 * half || tail.length > 1024) {
      tail = [Buffer.concat(tail).subarray(-half)]
      tailBytes = Math.min(tailBytes, half)
    }
  }
  const add = (chunk: Uint8Array): void => {
    bytes += chunk.length
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    const first = buffer.subarray(0, half - headBytes)
    if (first.length > 0) head.push(first)
    headBytes += first.length
    if (first.length < buffer.length) addTail(buffer.subarray(first.length))
  }
  const read = (): Captured => {
    const [begin, end] = [Buffer.concat(head), Buffer.concat(tail).subarray(-half)]
    const missing = bytes - begin.length - end.length
    if (missing <= 0) {
      const text = Buffer.concat([begin, end]).toString('utf8')
      return { text, begin: text, bytes, truncated: false }
    }
    const first = trimEnd(begin).toString('utf8')
    return {
      text: `${first}\n[… ${missing} bytes left out …]\n${trimStart(end).toString('utf8')}`,
      begin: first,
      bytes,
      truncated: true,
    }
  }
  return { add, read }
}
