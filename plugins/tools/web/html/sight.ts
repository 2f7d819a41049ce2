/** What the inline style of a tag makes unseen. Style sheets are not read (tools-60). */

export interface Sight {
  /** It is not seen, with all that is in it. */
  readonly isHidden: boolean
  /** Its words have no size; undefined where it has the size of what is around it. */
  readonly isTiny?: boolean | undefined
  /** Its words have the colour of what is behind them; undefined where it has the colours of what is around it. */
  readonly isBlended?: boolean | undefined
}

type Style = ReadonlyMap<string, string>

const withoutComments = (style: string): string =>
  style
    .split('/*')
    .map((piece, at) => {
      const end = piece.indexOf('*/')
      if (at === 0) return piece
      return end === -1 ? '' : piece.slice(end + 2)
    })
    .join('')

/** The last of a name counts, as far as this is CSS at all. */
const read = (style: string): Style =>
  new Map(
    withoutComments(style.toLowerCase())
      .split(';')
      .flatMap((line) => {
        const colon = line.indexOf(':')
        const value = line.slice(colon + 1).replace('!important', '')
        return colon === -1 ? [] : [[line.slice(0, colon).trim(), value.trim()] as const]
      }),
  )

const pixels: ReadonlyMap<string, number> = new Map(
  Object.entries({
    '': 1,
    px: 1,
    pt: 4 / 3,
    pc: 16,
    em: 16,
    rem: 16,
    ex: 8,
    ch: 8,
    vw: 10,
    vh: 10,
    mm: 4,
    cm: 38,
    in: 96,
  }),
)
const length = /^([+-]?\d{0,9}\.?\d{0,9})(%|[a-z]{0,4})$/u
const numberIn = (value: string | undefined): { number: number; unit: string } | undefined => {
  const [, number = '', unit = ''] = length.exec(value ?? '') ?? []
  return /\d/u.test(number) ? { number: Number(number), unit } : undefined
}
const isZero = (value: string | undefined): boolean => numberIn(value)?.number === 0
/** Further than any page goes. */
const isFar = (value: string | undefined): boolean => {
  const found = numberIn(value)
  return found !== undefined && found.number * (pixels.get(found.unit) ?? 0) <= -999
}

/** `rect(top, right, bottom, left)`, with nothing between two of them. */
const isClipped = (value = ''): boolean => {
  if (!value.startsWith('rect(')) return false
  const words = value.slice(5, 200).replace(')', '').split(/[\s,]/u)
  const [top, right, bottom, left] = words.filter((word) => word !== '').map((word) => numberIn(word)?.number)
  const isNone = (from: number | undefined, to: number | undefined) =>
    from !== undefined && to !== undefined && to <= from
  return isNone(top, bottom) || isNone(left, right)
}

const named: ReadonlyMap<string, string> = new Map(
  Object.entries({ white: '#ffffff', black: '#000000', red: '#ff0000', blue: '#0000ff', yellow: '#ffff00' }),
)
const hexOf = (value: string): string | undefined => {
  if (/^#[0-9a-f]{3}$/u.test(value)) return value.replaceAll(/[0-9a-f]/gu, '$&$&')
  if (/^#[0-9a-f]{6}$/u.test(value)) return value
  const [, ...parts] = /^rgb\( ?(\d{1,3}) ?, ?(\d{1,3}) ?, ?(\d{1,3}) ?\)$/u.exec(value) ?? []
  if (parts.length > 0) return `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`
  return named.get(value) ?? (/^[a-z]{1,30}$/u.test(value) ? value : undefined)
}

const isOut = (style: Style): boolean =>
  /^(?:absolute|fixed)$/u.test(style.get('position') ?? '') &&
  (isFar(style.get('left')) || isFar(style.get('top')) || isClipped(style.get('clip')))

const hasNoRoom = (style: Style): boolean =>
  /^(?:hidden|clip)$/u.test(style.get('overflow') ?? '') &&
  ['width', 'height'].every((side) => isZero(style.get(side)) || isZero(style.get(`max-${side}`)))

const isTiny = (size: string | undefined): boolean | undefined => {
  const found = numberIn(size)
  if (found?.number === 0) return true
  // What is so much of nothing is nothing.
  return size === undefined || found?.unit === '%' || found?.unit === 'em' || size === 'inherit' ? undefined : false
}

const isBlended = (style: Style): boolean | undefined => {
  const color = style.get('color')
  const behind = style.get('background-color') ?? style.get('background')
  if (color === undefined && behind === undefined) return undefined
  const [front, back] = [hexOf(color ?? ''), hexOf(behind ?? '')]
  return front !== undefined && front === back && !/^(?:inherit|initial|unset|transparent)$/u.test(front)
}

export const sightOf = (text: string): Sight => {
  const style = read(text)
  return {
    isHidden:
      style.get('display') === 'none' ||
      /^(?:hidden|collapse)$/u.test(style.get('visibility') ?? '') ||
      isZero(style.get('opacity')) ||
      isFar(style.get('text-indent')) ||
      isOut(style) ||
      hasNoRoom(style),
    isTiny: isTiny(style.get('font-size')),
    isBlended: isBlended(style),
  }
}
