import { sandboxErrors } from '../../../core/plugin.js'
import { assetErrors } from './errors.js'

/** What a route may answer with that takes a file. */
export const uploadProblems = [
  assetErrors.asset_invalid,
  assetErrors.asset_type_unsupported,
  assetErrors.asset_store_full,
  sandboxErrors.sandbox_busy,
  sandboxErrors.sandbox_not_begun,
] as const
