/** Files that are shown as what people see in them, and not as their bytes. */
import { Problem } from '../../../core/plugin.js'
import type { AssetNormaliser } from '../../media/assets/contract.js'
import { textOf } from './content.js'
import { fileErrors } from './errors.js'
import { notebookText } from './notebook/cells.js'

/** What stands in a file, and what kind of file that was. */
export interface ShownFile {
  readonly text: string
  readonly shown_as: 'notebook_cells' | 'pdf_text'
}

/** Normalisers of the daemon, at this moment. */
export type Normalisers = () => readonly AssetNormaliser[]

const pdfType = 'application/pdf'

/** A file that begins as a PDF, whatever it is called. */
const isPdf = (bytes: Buffer): boolean => bytes.subarray(0, 1_024).includes('%PDF-')

const readPdf = async (bytes: Buffer, normalisers: Normalisers): Promise<ShownFile> => {
  const reader = normalisers().find(({ media_types }) => media_types.includes(pdfType))
  if (reader === undefined) throw fileErrors.pdf_unreadable({ details: { reason: 'no plugin here reads PDFs' } })
  try {
    const { text } = await reader.normalise({ media_type: pdfType, bytes })
    if (text === undefined) throw fileErrors.pdf_unreadable({ details: { reason: 'there are no words in it' } })
    return { text: new TextDecoder().decode(text), shown_as: 'pdf_text' }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'asset_invalid') throw error
    throw fileErrors.pdf_unreadable({
      details: { reason: String(error.occurrence.details?.['reason'] ?? 'it is none') },
    })
  }
}

/** Undefined for a file that is shown as it is. Rejects with `pdf_unreadable`. */
export const shownOf = async (
  { path, bytes }: { readonly path: string; readonly bytes: Buffer },
  normalisers: Normalisers,
): Promise<ShownFile | undefined> => {
  if (isPdf(bytes)) return readPdf(bytes, normalisers)
  const text = path.toLowerCase().endsWith('.ipynb') ? textOf(bytes) : undefined
  const cells = text === undefined ? undefined : notebookText(text)
  return cells === undefined ? undefined : { text: cells, shown_as: 'notebook_cells' }
}
