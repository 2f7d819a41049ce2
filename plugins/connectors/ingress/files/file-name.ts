/** The name of a file, as whoever sent it says. */
const mostBytes = 200

/** Without what would lead elsewhere or hide, and not too long. */
const harmless = (name: string): string => {
  const clean = name
    .replace(/[/\\\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '_')
    .replace(/^[.\s]+/u, '')
    .trim()
  let text = ''
  let bytes = 0
  for (const sign of clean) {
    bytes += Buffer.byteLength(sign)
    if (bytes > mostBytes) break
    text += sign
  }
  return text.trim()
}

const lastPart = (url: string): string => {
  const part = URL.canParse(url) ? (new URL(url).pathname.split('/').at(-1) ?? '') : ''
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** What it is called, else the last part of its address, else `file`. */
export const fileNameOf = (name: string | undefined, url = ''): string => {
  const given = harmless(name ?? '')
  if (given !== '') return given
  const last = harmless(lastPart(url))
  return last === '' ? 'file' : last
}
