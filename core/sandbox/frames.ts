/**
 * How a job and its answer travel: a line of JSON, then the bytes that it announces. Both ends read from a pipe, in
 * whatever pieces they come.
 */

export interface Frame {
  /** `lengths` of the parts that follow, in their order. */
  readonly head: { readonly lengths: readonly number[] } & Record<string, unknown>
  readonly parts: readonly Uint8Array[]
}

/** The id in the first frame of a process: it takes jobs. */
export const beginId = 'begin'

export interface FrameLimits {
  /** Bytes of the line. */
  readonly head: number
  /** Bytes of all parts. */
  readonly parts: number
}

export type FrameReader = (chunk: Uint8Array) => Frame | 'unfit' | undefined

const lineEnd = 10

const headOf = (line: string, most: number): Frame['head'] | undefined => {
  try {
    const head: unknown = JSON.parse(line)
    if (typeof head !== 'object' || head === null || !('lengths' in head) || !Array.isArray(head.lengths))
      return undefined
    const lengths: unknown[] = head.lengths
    const whole = lengths.filter((length) => typeof length === 'number' && Number.isSafeInteger(length) && length >= 0)
    const fits =
      whole.length === lengths.length && whole.reduce<number>((sum, length) => sum + Number(length), 0) <= most
    return fits ? { ...head, lengths: whole.map(Number) } : undefined
  } catch {
    return undefined
  }
}

const partsOf = (bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] => {
  let at = 0
  return lengths.map((length) => bytes.subarray(at, (at += length)))
}

/** Reads frames one after the other. What breaks a limit, and what comes behind the end of a frame, is `unfit`. */
export const createFrameReader = (limits: FrameLimits): FrameReader => {
  let line: Uint8Array[] = []
  let lineBytes = 0
  let open: { readonly head: Frame['head']; readonly bytes: Uint8Array; done: number } | undefined
  const begin = (chunk: Uint8Array): Uint8Array | 'unfit' | undefined => {
    const end = chunk.indexOf(lineEnd)
    const text = end === -1 ? chunk : chunk.subarray(0, end)
    lineBytes += text.length
    if (lineBytes > limits.head) return 'unfit'
    line.push(text)
    if (end === -1) return undefined
    const head = headOf(Buffer.concat(line).toString('utf8'), limits.parts)
    ;[line, lineBytes] = [[], 0]
    if (head === undefined) return 'unfit'
    const length = head.lengths.reduce((sum, each) => sum + each, 0)
    open = { head, bytes: new Uint8Array(length), done: 0 }
    return chunk.subarray(end + 1)
  }
  return (chunk) => {
    const rest = open === undefined ? begin(chunk) : chunk
    if (rest === 'unfit' || rest === undefined || open === undefined) return rest === 'unfit' ? rest : undefined
    const { head, bytes } = open
    if (rest.length > bytes.length - open.done) return 'unfit'
    bytes.set(rest, open.done)
    open.done += rest.length
    if (open.done < bytes.length) return undefined
    open = undefined
    return { head, parts: partsOf(bytes, head.lengths) }
  }
}

/** The pieces of a frame, in their order. */
export const frameOf = (head: Record<string, unknown>, parts: readonly Uint8Array[]): Uint8Array[] => [
  Buffer.from(`${JSON.stringify({ ...head, lengths: parts.map(({ length }) => length) })}\n`),
  ...parts,
]
