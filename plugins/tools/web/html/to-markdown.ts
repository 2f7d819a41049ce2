/** The text of an HTML page, as Markdown or plain, while it is parsed: no tree is built. What is hidden is left out. */
import type { Parser } from 'htmlparser2'
import type { Portions } from '../../../../core/plugin.js'
import { sightOf, type Sight } from './sight.js'
import { createWriter, type Writer } from './writer.js'

type Attributes = Readonly<Record<string, string>>

export interface PageWish {
  /** The address that links are relative to. */
  readonly url: string
  /** False: words only. */
  readonly markdown: boolean
  /** Most characters of the text. */
  readonly most: number
}

export interface PageText {
  readonly title: string
  readonly text: string
  /** The page went on: it is too long or too deep. */
  readonly isCut: boolean
}

type ParserKind = new (...args: ConstructorParameters<typeof Parser>) => Parser

/** A parser looks through all open tags for each that closes: beyond this it would take the square of a page. */
const mostDepth = 500
const chunk = 16_384
const mostTitle = 300
const mostLink = 2_000

const skipped = new Set('script style noscript template svg math iframe object canvas select textarea'.split(' '))
const apart = new Set(
  [
    'address article aside details dialog div dd dl dt fieldset figcaption figure',
    'footer form header hgroup main nav p section summary',
  ].flatMap((names) => names.split(' ')),
)
/** Those that stand with an empty line around them. */
const wide = new Set(['p', 'dl', 'section', 'article', 'header', 'footer', 'main', 'figure'])

/** What a page is while it is read. */
interface Reading extends Omit<PageWish, 'url'> {
  url: string
  readonly writer: Writer
  skipping: number
  /** Words are too small, or of the colour of what is behind them. */
  isTiny: boolean
  isBlended: boolean
  isTitle: boolean
  isVerbatim: boolean
  title: string
  /** Numbers of the open lists; undefined for those without. */
  readonly lists: (number | undefined)[]
  cells: number
  rows: number
}

type Close = () => void

const inTurn =
  (...closes: readonly (Close | undefined)[]): Close =>
  () =>
    closes.forEach((close) => close?.())

const linkOf = ({ url }: Reading, href: string | undefined): string | undefined => {
  if (href === undefined || href.trim() === '' || href.startsWith('#') || href.length > mostLink) return undefined
  if (!URL.canParse(href, url)) return undefined
  const { protocol, href: whole } = new URL(href, url)
  if (!/^https?:$/u.test(protocol) || whole.length > mostLink) return undefined
  return whole.replaceAll('(', '%28').replaceAll(')', '%29')
}

const skip = (reading: Reading): Close => {
  reading.skipping += 1
  return () => {
    reading.skipping -= 1
  }
}

/** Words in it are seen as the style says, and others as before. */
const show = (reading: Reading, sight: Sight): Close | undefined => {
  const { isTiny, isBlended } = reading
  const [tiny, blended] = [sight.isTiny ?? isTiny, sight.isBlended ?? isBlended]
  if (tiny === isTiny && blended === isBlended) return undefined
  Object.assign(reading, { isTiny: tiny, isBlended: blended })
  return () => void Object.assign(reading, { isTiny, isBlended })
}

const block = ({ writer }: Reading, gap: 1 | 2): Close => {
  writer.block(gap)
  return () => writer.block(gap)
}

const heading = (reading: Reading, level: number): Close => {
  const { writer, markdown } = reading
  const close = block(reading, 2)
  if (markdown) writer.sign(`${'#'.repeat(level)} `)
  return inTurn(writer.inline(), close)
}

const item = (reading: Reading): Close => {
  const { writer, lists } = reading
  const close = block(reading, 1)
  const number = lists.at(-1)
  if (number !== undefined) lists[lists.length - 1] = number + 1
  const marker = number === undefined ? '- ' : `${number}. `
  writer.marker(marker)
  return inTurn(writer.prefix(' '.repeat(marker.length)), () => writer.tight(), close)
}

const list = (reading: Reading, first: number | undefined): Close => {
  const close = block(reading, reading.lists.length === 0 ? 2 : 1)
  reading.lists.push(first)
  return inTurn(() => reading.lists.pop(), close)
}

const preformatted = (reading: Reading): Close => {
  const { writer, markdown } = reading
  const close = block(reading, 2)
  if (markdown) writer.sign('```')
  writer.block(1)
  reading.isVerbatim = true
  return () => {
    reading.isVerbatim = false
    writer.block(1)
    if (markdown) writer.sign('```')
    close()
  }
}

const row = (reading: Reading): Close => {
  const { writer, markdown } = reading
  const close = block(reading, 1)
  reading.cells = 0
  return () => {
    writer.tight()
    if (reading.cells > 0) writer.sign(' |')
    close()
    if (markdown && reading.rows === 0 && reading.cells > 0) {
      writer.sign(`${'| --- '.repeat(Math.min(reading.cells, 100))}|`)
      close()
    }
    reading.rows += 1
  }
}

const cell = (reading: Reading): Close => {
  reading.writer.tight()
  reading.writer.sign(reading.cells === 0 ? '| ' : ' | ')
  reading.cells += 1
  return reading.writer.inline()
}

const image = ({ writer, markdown }: Reading, { alt = '' }: Attributes): undefined => {
  if (alt.trim() !== '') writer.text(markdown ? `[image: ${alt.slice(0, 500)}]` : alt.slice(0, 500))
}

const link = (reading: Reading, href: string | undefined): Close | undefined => {
  const { writer, markdown } = reading
  const target = markdown ? linkOf(reading, href) : undefined
  return target === undefined ? undefined : inTurn(writer.wrap('[', `](${target})`), writer.inline())
}

const emphasis: Readonly<Record<string, string>> = { b: '**', strong: '**', em: '*', i: '*', code: '`', kbd: '`' }

/** What a tag opens, and how it is closed. */
const openTag = (reading: Reading, name: string, attributes: Attributes): Close | undefined => {
  const { writer, markdown } = reading
  const level = /^h([1-6])$/u.exec(name)?.[1]
  if (level !== undefined) return heading(reading, Number(level))
  const mark = emphasis[name]
  if (mark !== undefined) return markdown && !reading.isVerbatim ? writer.wrap(mark, mark) : undefined
  switch (name) {
    case 'a':
      return link(reading, attributes['href'])
    case 'br':
      return void writer.block(1)
    case 'hr':
      return inTurn(() => writer.sign(markdown ? '---' : ''), block(reading, 2))
    case 'img':
      return image(reading, attributes)
    case 'li':
      return item(reading)
    case 'ul':
      return list(reading, undefined)
    case 'ol':
      return list(reading, /^\d{1,6}$/u.test(attributes['start'] ?? '') ? Number(attributes['start']) : 1)
    case 'pre':
      return preformatted(reading)
    case 'blockquote': {
      const close = block(reading, 2)
      return markdown ? inTurn(writer.prefix('> '), close) : close
    }
    case 'table':
      reading.rows = 0
      return block(reading, 2)
    case 'tr':
      return row(reading)
    case 'td':
    case 'th':
      return cell(reading)
    default:
      return apart.has(name) ? block(reading, wide.has(name) ? 2 : 1) : undefined
  }
}

const takeTitle = (reading: Reading): Close => {
  reading.isTitle = true
  return () => {
    reading.isTitle = false
  }
}

const open = (reading: Reading, name: string, attributes: Attributes): Close | undefined => {
  if (name === 'title') return reading.skipping > 0 || reading.title !== '' ? skip(reading) : takeTitle(reading)
  if (name === 'base' && URL.canParse(attributes['href'] ?? '', reading.url))
    reading.url = new URL(attributes['href'] ?? '', reading.url).href
  const { hidden, style } = attributes
  const sight = style === undefined ? undefined : sightOf(style)
  if (skipped.has(name) || hidden !== undefined || sight?.isHidden === true) return skip(reading)
  if (reading.skipping > 0) return undefined
  const hide = sight && show(reading, sight)
  const close = openTag(reading, name, attributes)
  return hide === undefined ? close : inTurn(hide, close)
}

const take = (reading: Reading, text: string): void => {
  if (reading.isTitle) reading.title = (reading.title + text).slice(0, mostTitle)
  else if (reading.skipping > 0 || reading.isTiny || reading.isBlended) return
  else if (reading.isVerbatim) reading.writer.verbatim(text)
  else reading.writer.text(text)
}

/** Ends early for a page that is longer or deeper than what is wanted. */
export function* pageText(kind: ParserKind, html: string, wish: PageWish): Portions<PageText> {
  const writer = createWriter()
  const reading: Reading = {
    ...wish,
    writer,
    skipping: 0,
    isTiny: false,
    isBlended: false,
    isTitle: false,
    isVerbatim: false,
    title: '',
    lists: [],
    cells: 0,
    rows: 0,
  }
  const closes: (Close | undefined)[] = []
  const parser = new kind({
    onopentag: (name, attributes) => void closes.push(open(reading, name, attributes)),
    onclosetag: () => closes.pop()?.(),
    ontext: (text) => take(reading, text),
  })
  let isCut = false
  for (let at = 0; at < html.length && !isCut; at += chunk) {
    parser.write(html.slice(at, at + chunk))
    isCut = closes.length > mostDepth || writer.length > wish.most
    yield
  }
  if (!isCut) parser.end()
  return { title: reading.title.replaceAll(/\s+/gu, ' ').trim(), text: writer.result(), isCut }
}
