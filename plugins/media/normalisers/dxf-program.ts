/** Drawings, in the sandbox: stored as they came, with a summary in words and a picture of their lines. */
import sharp from 'sharp'
import type { JobProgram } from '../../../core/plugin.js'
import { drawLines, edge } from './dxf/draw.js'
import { lettersOf } from './dxf/letters.js'
import { readDxf } from './dxf/read.js'
import { tellDrawing } from './dxf/tell.js'

sharp.cache(false)
sharp.concurrency(1)

export const work: JobProgram = async ({ bytes }, refuse) => {
  const drawing = readDxf(lettersOf(bytes), refuse)
  const text = Buffer.from(tellDrawing(drawing))
  const pixels = drawLines(drawing)
  if (pixels === undefined) return { answer: {}, files: { text } }
  const preview = await sharp(pixels, { raw: { width: edge, height: edge, channels: 1 } })
    .png()
    .toBuffer()
  return { answer: {}, files: { text, preview } }
}
