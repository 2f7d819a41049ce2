/** The letters of a drawing: UTF-8, or as its code page says, which programs write before the version of 2007. */
import { isUtf8 } from 'node:buffer'

/** Code pages that are not `windows-` and their number. */
const others: Readonly<Record<string, string>> = { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5' }
const known = /^(?:874|125[0-8])$/u
/** The header, where the code page is told, comes first. */
const headBytes = 64 * 1024

const codePageOf = (bytes: Uint8Array): string => {
  const head = Buffer.from(bytes.subarray(0, headBytes)).toString('latin1')
  const [, page = ''] = /\$DWGCODEPAGE\s{1,8}3\s{1,8}ANSI_(\d{3,4})\s/iu.exec(head) ?? []
  return others[page] ?? (known.test(page) ? `windows-${page}` : 'windows-1252')
}

export const lettersOf = (bytes: Uint8Array): string =>
  new TextDecoder(isUtf8(bytes) ? 'utf-8' : codePageOf(bytes)).decode(bytes)
