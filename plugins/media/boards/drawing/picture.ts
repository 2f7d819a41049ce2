/** The picture of a board with a new batch on it, drawn in the sandbox. */
import { integer, object, unsafeCast, type JobFamily, type Json, type Sandbox } from '../../../../core/plugin.js'
import { boardErrors } from '../record/errors.js'
import type { Drawing } from './draw-program.js'
import type { Canvas } from './canvas.js'

const mebibyte = 1024 * 1024
const family: JobFamily<Canvas> = {
  name: 'board',
  program: new URL('./draw-program.js', import.meta.url),
  answer: object({ width: integer({ min: 1 }), height: integer({ min: 1 }) }),
  limits: { ms: 30_000, memoryBytes: 768 * mebibyte, resultBytes: 12 * mebibyte },
}

export interface PictureWish extends Drawing {
  /** The picture that is drawn over; empty for none. */
  readonly before: Uint8Array
  readonly signal: AbortSignal
}

/** How large a picture is. Rejects with `board_drawing_failed`, and as the sandbox does. */
export const measurePicture = async (sandbox: Sandbox, bytes: Uint8Array, signal: AbortSignal): Promise<Canvas> => {
  const result = await sandbox.run(family, { bytes, options: { measures: true }, signal })
  if (result.type === 'done') return result.answer
  throw boardErrors.board_drawing_failed({ details: { reason: result.reason } })
}

/** PNG, and the canvas that it shows. Rejects with `board_drawing_failed`, and as the sandbox does. */
export const drawPicture = async (
  sandbox: Sandbox,
  { before, signal, ...drawing }: PictureWish,
): Promise<{ readonly png: Uint8Array; readonly canvas: Canvas }> => {
  const options = unsafeCast<Json>(drawing)
  const result = await sandbox.run(family, { bytes: before, options, signal })
  const png = result.type === 'done' ? result.files.get('raw') : undefined
  if (result.type === 'done' && png !== undefined) return { png, canvas: result.answer }
  const reason = result.type === 'done' ? 'nothing came of it' : result.reason
  throw boardErrors.board_drawing_failed({ details: { reason } })
}
