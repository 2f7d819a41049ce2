/** PDFs, in the sandbox: what is in them is looked at first, then their text is read. */
import type { JobProgram, Refuse } from '../../../core/plugin.js'
import { checkPdf } from './pdf-streams.js'

const mostPages = 128
const mostText = 4 * 1024 * 1024

/** The reader asks for shapes of a browser when it is loaded, and needs them for no text. */
const standIns = (): void => {
  const stands: Readonly<Record<string, unknown>> = globalThis
  class Matrix {
    readonly [name: string]: unknown
    multiply = (): Matrix => this
    translate = (): Matrix => this
    scale = (): Matrix => this
    constructor() {
      Object.assign(this, { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 })
    }
  }
  for (const [name, stand] of [
    ['DOMMatrix', Matrix],
    ['ImageData', class {}],
    ['Path2D', class {}],
  ] as const)
    if (stands[name] === undefined) Reflect.set(globalThis, name, stand)
}
standIns()
const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs')

const options = { isEvalSupported: false, useSystemFonts: false, disableFontFace: true, enableXfa: false, verbosity: 0 }

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '')
const open = async (bytes: Uint8Array, refuse: Refuse) => {
  try {
    // The reader keeps the bytes and takes no Buffer.
    return await getDocument({ data: Uint8Array.from(bytes), ...options }).promise
  } catch (error) {
    return refuse(nameOf(error) === 'PasswordException' ? 'it is encrypted' : 'it is no PDF that can be read')
  }
}
type Document = Awaited<ReturnType<typeof open>>

const pageText = async (document: Document, number: number): Promise<string> => {
  const page = await document.getPage(number)
  const { items } = await page.getTextContent()
  page.cleanup()
  return items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('')
}

export const work: JobProgram = async ({ bytes }, refuse) => {
  checkPdf(Buffer.from(bytes), refuse)
  const document = await open(bytes, refuse)
  if (document.numPages > mostPages) refuse(`it has more than ${mostPages} pages`)
  const pages: string[] = []
  let length = 0
  for (let number = 1; number <= document.numPages; number += 1) {
    const text = (await pageText(document, number)).trim()
    length += Buffer.byteLength(text) + 2
    if (length > mostText) refuse('its text has more than 4 MiB')
    pages.push(text)
  }
  await document.destroy()
  const text = pages.join('\n\n').trim()
  return { answer: {}, files: text === '' ? {} : { text: Buffer.from(text) } }
}
