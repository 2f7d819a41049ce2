/** Where a text stops being JSON, for whoever wrote it by hand. Pure. */

/** The first place that does not fit, and what could stand there. */
export interface JsonFault {
  /** Both from 1. */
  readonly line: number
  readonly column: number
  readonly wanted: string
}

const mark = '([{}[\\],:])'
const plain = '[^"\\\\\\u0000-\\u001f]*'
const text = `("${plain}(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})${plain})*")`
const word = '(-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?|true|false|null)(?![\\w.+-])'
/** A mark, a text, or a number or word; what is none of them matches nothing. */
const token = `[ \\t\\r\\n]*(?:${mark}|${text}|${word})`

type Place = 'value' | 'first' | 'first_name' | 'name' | 'colon' | 'more' | 'end'
const wanted = (place: Place, inside: string | undefined): string => {
  if (place === 'first_name') return 'a name in quotes, or }'
  if (place === 'name') return 'a name in quotes'
  if (place === 'colon') return 'a colon'
  if (place === 'end') return 'nothing more'
  if (place === 'more') return `a comma, or ${inside === '{' ? '}' : ']'}`
  return place === 'first' ? 'a value, or ]' : 'a value'
}

const isValue = (place: Place): boolean => place === 'value' || place === 'first'
const isName = (place: Place): boolean => place === 'name' || place === 'first_name'

/** What may follow a mark; undefined where it does not fit. The list is what is open, the innermost last. */
const behindMark = (sign: string, place: Place, open: string[]): Place | undefined => {
  const inside = open.at(-1)
  if (sign === ':') return place === 'colon' ? 'value' : undefined
  if (sign === ',') return place !== 'more' ? undefined : inside === '{' ? 'name' : 'value'
  if (sign === '{' || sign === '[') {
    if (!isValue(place)) return undefined
    open.push(sign)
    return sign === '{' ? 'first_name' : 'first'
  }
  const fits = sign === '}' ? inside === '{' : inside === '['
  if (!fits || (place !== 'more' && place !== (sign === '}' ? 'first_name' : 'first'))) return undefined
  open.pop()
  return open.length === 0 ? 'end' : 'more'
}

const placeIn = (given: string, at: number): Pick<JsonFault, 'line' | 'column'> => {
  const lines = given.slice(0, at).split('\n')
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}

/** Undefined for a text that is JSON. */
export const jsonFault = (given: string): JsonFault | undefined => {
  const open: string[] = []
  const [reader, blanks] = [new RegExp(token, 'uy'), /[ \t\r\n]*/uy]
  let place: Place = 'value'
  for (let at = 0; ; at = reader.lastIndex) {
    reader.lastIndex = blanks.lastIndex = at
    const begin = at + (blanks.exec(given)?.[0].length ?? 0)
    if (begin === given.length && place === 'end') return undefined
    const [, sign, said, other] = reader.exec(given) ?? []
    const after: Place = open.length === 0 ? 'end' : 'more'
    const next: Place | undefined =
      sign !== undefined
        ? behindMark(sign, place, open)
        : said !== undefined && isName(place)
          ? 'colon'
          : (said ?? other) !== undefined && isValue(place)
            ? after
            : undefined
    if (next === undefined) return { ...placeIn(given, begin), wanted: wanted(place, open.at(-1)) }
    place = next
  }
}
