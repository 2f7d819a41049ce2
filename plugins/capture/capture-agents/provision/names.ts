/** Ids of batches and machines, as they are kept. */
const allowed = /^[A-Za-z0-9\-_.\s]+$/u

/** In small letters, with a dash for whatever stands between; undefined for what names nothing. */
export const normalised = (id: string): string | undefined => {
  if (!allowed.test(id)) return undefined
  const name = id
    .toLowerCase()
    .replaceAll(/[-_.\s]+/gu, '-')
    .replaceAll(/^-|-$/gu, '')
  return name === '' ? undefined : name
}
