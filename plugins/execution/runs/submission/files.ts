/** Files of a submission: stored before the run is accepted, which then names them. */
import { Problem } from '../../../../core/plugin.js'
import {
  assetErrors,
  attachmentOf,
  fromBase64,
  type Assets,
  type AttachmentRef,
} from '../../../media/assets/contract.js'
import { replayed } from '../record/receipts.js'
import type { ControlContext } from '../lifecycle/executor.js'
import { partFiles, type GivenFile, type Submission } from './input.js'

/** What is wrong with a file is told with its place in the request. */
const placed = (error: unknown, path: string): unknown =>
  error instanceof Problem && error.occurrence.errors === undefined
    ? new Problem(error.code, error.spec, { ...error.occurrence, errors: [{ path, rule: 'cannot be taken' }] })
    : error

const stored = async (assets: Assets, { path, file }: GivenFile): Promise<AttachmentRef> => {
  try {
    if (file.type === 'asset_reference') return attachmentOf(assets.get(file.asset_id))
    const { file_name, media_type, content_base64 } = file
    const bytes = await fromBase64(content_base64)
    if (bytes === undefined)
      throw assetErrors.asset_invalid({ details: { media_type, reason: 'content_base64 is no base64' } })
    return attachmentOf(await assets.add({ file_name, media_type, bytes }))
  } catch (error) {
    throw placed(error, path)
  }
}

/** The submission with its files stored. A repeated one, and one for a daemon without assets, is left as it is. */
export const storeFiles = async (context: ControlContext, submission: Submission): Promise<Submission> => {
  const assets = context.assets()
  const { given, rest } = partFiles(submission.input)
  if (assets === undefined || given.length === 0) return submission
  const { ended_at_ms } = context.sessions.get(submission.session_id)
  if (ended_at_ms !== undefined || replayed(context.store, submission.receipt) !== undefined) return submission
  const files = new Map((submission.files ?? []).map((file) => [file.id, file]))
  for (const each of given) {
    const file = await stored(assets, each)
    files.set(file.id, file)
  }
  return { ...submission, input: rest, files: [...files.values()] }
}
