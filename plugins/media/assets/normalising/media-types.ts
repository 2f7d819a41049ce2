/** Which media types there are, and which of their names are the same. */

const aliases: Readonly<Record<string, string>> = {
  'text/x-markdown': 'text/markdown',
  'text/json': 'application/json',
  'application/csv': 'text/csv',
  'application/x-pdf': 'application/pdf',
  'application/x-dxf': 'application/dxf',
  'image/vnd.dxf': 'application/dxf',
  'image/x-dxf': 'application/dxf',
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/mp3': 'audio/mpeg',
  'audio/x-mpeg': 'audio/mpeg',
  'audio/ogg': 'audio/opus',
  'audio/x-aac': 'audio/aac',
  'audio/aacp': 'audio/aac',
  'audio/x-flac': 'audio/flac',
  'audio/x-m4a': 'audio/m4a',
  'audio/x-pcm': 'audio/pcm',
}

/** Lower case, without parameters, and by its usual name: `Text/X-Markdown; charset=utf-8` is `text/markdown`. */
export const canonicalType = (declared: string): string => {
  const bare = declared.split(';', 1).join('').trim().toLowerCase()
  return Object.hasOwn(aliases, bare) ? (aliases[bare] ?? bare) : bare
}

const form = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/u
/** Whether something is a media type in lower case, without parameters. */
export const isMediaType = (value: unknown): value is string => typeof value === 'string' && form.test(value)

/** What is wrong with the media types of a contribution, as the check of a point says it; undefined if nothing is. */
export const wrongMediaTypes = (what: string, types: unknown): string | undefined =>
  Array.isArray(types) && types.every(isMediaType)
    ? undefined
    : `media_types of ${what} must be a list of media types such as text/plain, in lower case and without parameters`

/** Whether one of them is a media type by its usual name. */
export const takesType = (types: readonly string[], media_type: string): boolean =>
  types.some((type) => canonicalType(type) === media_type)
