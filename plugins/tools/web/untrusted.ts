/** Text from the web as a model is given it: nothing in it is hidden, and none of it can end its frame. */
import { visible } from '../../../core/plugin.js'

const frame = 'untrusted_web_text'

/** Signs that pages use to tell where words may be parted, and that say nothing. */
const silent = /[\u00ad\u200b\u2060\ufeff]/gu

/** Between the bracket and the name a reader overlooks blanks, signs without a shape, and more than one slash. */
const tags = new RegExp(`[<＜﹤‹][\\s\\p{Cf}/]*(?=${frame}\\b)`, 'giu')

/** Text without what steers or hides. */
export const plainText = (text: string): string => visible(text.replaceAll(silent, ''))

/** The text in a frame that says that it is data. */
export const framed = (text: string): string => `<${frame}>\n${text.replaceAll(tags, '(')}\n</${frame}>`
