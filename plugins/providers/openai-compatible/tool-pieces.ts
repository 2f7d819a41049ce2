/** Puts the pieces of streamed tool calls together, whatever a server leaves out to tell them apart. */

/** One piece as the server sent it; blank ids and names are absent. */
export interface ToolPiece {
  readonly index: number | undefined
  readonly id: string | undefined
  readonly name: string | undefined
  /** A part of the input's JSON. */
  readonly input: string
  /** What Gemini wants back with the call. */
  readonly signature: string | undefined
}

/** A call as far as its pieces have come. */
export interface ToolDraft {
  readonly index: number | undefined
  id: string | undefined
  name: string | undefined
  input: string
  signature: string | undefined
  readonly json: JsonProgress
}

export interface ToolPieces {
  /** False if nobody can say which call the piece belongs to: then no call of the answer can be trusted. */
  take(piece: ToolPiece): boolean
  /** In the order of their indexes if all have one, else as they came. */
  list(): readonly ToolDraft[]
}

export const createToolPieces = (): ToolPieces => {
  const drafts: ToolDraft[] = []
  /** The latest call of each id. */
  const byId = new Map<string, ToolDraft>()
  /** The latest call of each index, behind the one before it if that is open still. */
  const byIndex = new Map<number, readonly ToolDraft[]>()
  const begin = ({ index, name }: ToolPiece): ToolDraft => {
    const draft: ToolDraft = {
      index,
      id: undefined,
      name,
      input: '',
      signature: undefined,
      json: { depth: 0, isBegun: false, isText: false, isEscaped: false },
    }
    drafts.push(draft)
    if (index !== undefined) byIndex.set(index, [...(byIndex.get(index) ?? []).filter(isOpen).slice(-1), draft])
    return draft
  }
  const find = ({ index, id, name }: ToolPiece): ToolDraft | 'several' | undefined => {
    const known = id === undefined ? undefined : byId.get(id)
    if (known !== undefined) {
      if (index === undefined || known.index === undefined || known.index === index) return known
      if (name === undefined) return 'several'
    }
    const same = index === undefined ? undefined : byIndex.get(index)
    if (same !== undefined) return name === undefined ? meant(same) : same.at(-1)
    if (index !== undefined || id !== undefined || name !== undefined) return undefined
    return drafts.length > 1 ? 'several' : drafts[0]
  }
  const take = (piece: ToolPiece): boolean => {
    if (isNothing(piece)) return true
    const found = find(piece)
    if (found === 'several') return false
    const draft = found === undefined || beginsAnew(piece, found) ? begin(piece) : found
    if (piece.id !== undefined) {
      // An id that another call has is none: results would be paired with the wrong one.
      if (!byId.has(piece.id)) draft.id ??= piece.id
      byId.set(piece.id, draft)
    }
    append(draft, piece)
    return true
  }
  const list = (): readonly ToolDraft[] =>
    drafts.every(({ index }) => index !== undefined)
      ? drafts.toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0))
      : drafts
  return { take, list }
}

const isNothing = ({ id, name, input }: ToolPiece): boolean => id === undefined && name === undefined && input === ''

const isOpen = ({ json }: ToolDraft): boolean => !isWhole(json)

/** Of calls that share an index the one whose input is not whole yet; the last one if all are. */
const meant = (same: readonly ToolDraft[]): ToolDraft | 'several' | undefined => {
  const open = same.filter(isOpen)
  return open.length > 1 ? 'several' : (open[0] ?? same.at(-1))
}

/**
 * Some servers give every call the same index, and some repeat name and id with every piece. A piece with another name
 * is another call; one with the same name is, if it begins an input where the call found has a whole one, or if it has
 * an id of its own and the call found is not in the middle of its input.
 */
const beginsAnew = ({ id, name, input }: ToolPiece, { id: known, name: called, json }: ToolDraft): boolean => {
  if (name === undefined || called === undefined) return false
  if (name !== called) return true
  const isOther = id !== undefined && known !== undefined && id !== known
  return isOther ? isWhole(json) || !json.isBegun : isWhole(json) && /^\s*[[{]/u.test(input)
}

const append = (draft: ToolDraft, { name, input, signature }: ToolPiece): void => {
  draft.name ??= name
  draft.signature ??= signature
  if (input === '') return
  draft.input += input
  read(draft.json, input)
}

/** How far a text of JSON has come that arrives in pieces, each of which is read once. */
interface JsonProgress {
  depth: number
  isBegun: boolean
  isText: boolean
  isEscaped: boolean
}

const [quote, backslash] = [0x22, 0x5c]
const opening = new Set([0x7b, 0x5b])
const closing = new Set([0x7d, 0x5d])

const read = (json: JsonProgress, piece: string): void => {
  for (let at = 0; at < piece.length; at += 1) readSign(json, piece.charCodeAt(at))
}

const readSign = (json: JsonProgress, sign: number): void => {
  if (json.isEscaped) json.isEscaped = false
  else if (sign === quote) json.isText = !json.isText
  else if (json.isText) json.isEscaped = sign === backslash
  else if (opening.has(sign)) json.depth += 1
  else if (closing.has(sign)) json.depth -= 1
  json.isBegun ||= json.depth > 0
}

/** True behind the end of its object or list. */
const isWhole = ({ isBegun, depth, isText }: JsonProgress): boolean => isBegun && depth <= 0 && !isText
