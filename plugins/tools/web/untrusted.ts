/** Text from the web as a model is given it: nothing in it is hidden, and none of it can end its frame. */
import { frameTags, visible, type Portions } from '../../../core/plugin.js'

const frame = 'untrusted_web_text'

/** Signs that pages use to tell where words may be parted, and that say nothing. */
const silent = /[\u00ad\u200b\u2060\ufeff]/gu

const tags = frameTags([frame])

/** Text without what steers or hides. */
export const plainText = (text: string): string => visible(text.replaceAll(silent, ''))

/** What belongs to the sign before it. */
const follows = /\n|\u200c|\u200d|\ufe0e|\ufe0f|[\udc00-\udfff]/u
const [pieceLength, mostBack] = [32 * 1024, 64]

/** `plainText` of a long text, a piece at a time: each sign of it may become six. */
export function* inPieces(text: string): Portions<string> {
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    let end = at + pieceLength
    while (end > at + pieceLength - mostBack && follows.test(text.charAt(end))) end -= 1
    pieces.push(plainText(text.slice(at, end)))
    at = end
    yield
  }
  return pieces.join('')
}

/** The text without anything that could end the frame. */
export const harmless = (text: string): string => plainText(text).replaceAll(tags, '(')

/** The text in a frame that says that it is data. */
export const framed = (text: string): string => `<${frame}>\n${text.replaceAll(tags, '(')}\n</${frame}>`
