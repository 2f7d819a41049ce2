/** Sealed values as they are stored. */
import { object, parse, string, type Infer } from '../../../../core/plugin.js'

/** A value that only the key of this id opens: nonce, tag and text, in base64. */
export const Sealed = object({ sealed_with: string(), sealed: string() })
/** The value form of `Sealed`. */
export type Sealed = Infer<typeof Sealed>

/** Whether a value is a sealed one. */
export const isSealed = (value: unknown): value is Sealed => parse(Sealed, value).ok
