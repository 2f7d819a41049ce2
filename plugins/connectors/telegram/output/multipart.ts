/** A form with one file, whole in memory: assets are bounded. */

export interface FormFile {
  readonly part: string
  readonly file_name: string
  readonly media_type: string
  readonly bytes: Uint8Array
}

/** What would end the name or its header does not stand in it. */
const quoted = (text: string): string => text.replaceAll('"', '%22').replaceAll(/[\p{Cc}\p{Cs}]/gu, '_')
const typePattern = /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+$/u

/** `boundary` must be nowhere in the file: a random one is not. */
export const formOf = (
  fields: Readonly<Record<string, string>>,
  { part, file_name, media_type, bytes }: FormFile,
  boundary: string,
): { readonly type: string; readonly body: Uint8Array } => {
  const type = typePattern.test(media_type) ? media_type : 'application/octet-stream'
  const head = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const before =
    `${head.join('')}--${boundary}\r\n` +
    `content-disposition: form-data; name="${part}"; filename="${quoted(file_name)}"\r\n` +
    `content-type: ${type}\r\n\r\n`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(before), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  }
}
