/** A form with a file, as bytes. */

/** One field of a form, or its file. */
export interface FormPart {
  readonly name: string
  readonly value: string | { readonly file_name: string; readonly media_type: string; readonly bytes: Uint8Array }
}

const lineEnd = '\r\n'
const headOf = ({ name, value }: FormPart): string => {
  const named = `Content-Disposition: form-data; name="${name}"`
  return typeof value === 'string'
    ? named
    : `${named}; filename="${value.file_name}"${lineEnd}Content-Type: ${value.media_type}`
}

/** `boundary` must be in none of the parts; names and file names must be plain words. */
export const formBytes = (parts: readonly FormPart[], boundary: string): Buffer =>
  Buffer.concat([
    ...parts.flatMap((part) => [
      Buffer.from(`--${boundary}${lineEnd}${headOf(part)}${lineEnd}${lineEnd}`),
      typeof part.value === 'string' ? Buffer.from(part.value) : part.value.bytes,
      Buffer.from(lineEnd),
    ]),
    Buffer.from(`--${boundary}--${lineEnd}`),
  ])
