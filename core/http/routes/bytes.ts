import { define, type Struct } from 'superstruct'
import { note } from '../../base/schema.js'

/** Bytes as they are: the body of a route whose `bodyForm` is `bytes`. */
export const bytes = (): Struct<Uint8Array, null> =>
  note(
    () => define<Uint8Array>('bytes', (value) => value instanceof Uint8Array),
    () => ({ type: 'string', format: 'binary' }),
  )
