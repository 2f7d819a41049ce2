/** How much all assets may be, and how much they are. */
import {
  commandLine,
  defaulted,
  doc,
  integer,
  object,
  type HealthCheck,
  type Infer,
  type Metric,
} from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import { assetErrors } from './errors.js'
import type { AssetStore } from './store.js'

const bound = (sentence: string) => doc(defaulted(integer({ min: 0 }), 0), `${sentence} 0 is no limit.`)

export const assetsConfig = object({
  max_bytes: bound('Bytes of the files of all assets: what goes beyond is refused.'),
  max_count: bound('Assets: one more is refused.'),
})
export type AssetsConfig = Infer<typeof assetsConfig>

const count = () => integer({ min: 0 })
const Totals = object({
  count: count(),
  bytes: doc(count(), 'Of the files of all assets; what several have counts for each.'),
  max_count: doc(count(), '0 is no limit.'),
  max_bytes: doc(count(), '0 is no limit.'),
})

/** The part of a limit from which the status warns. */
const full = 0.9

interface TotalsParts {
  readonly store: Pick<AssetStore, 'totals'>
  readonly config: AssetsConfig
}

/** Throws `asset_store_full` where a file of so many bytes, or any at all, would not be taken. */
export const checkRoom = ({ store, config: { max_bytes, max_count } }: TotalsParts, size?: number): void => {
  const { count: now, bytes } = store.totals()
  const file = size === undefined ? 'A further file' : `A file of ${size} bytes`
  const refuse = (limit: string): never => {
    throw assetErrors.asset_store_full({ details: { file, count: now, bytes, limit } })
  }
  if (max_count > 0 && now >= max_count) refuse(`max_count = ${max_count}`)
  if (max_bytes > 0 && bytes + (size ?? 1) > max_bytes) refuse(`max_bytes = ${max_bytes}`)
}

export const totalsSection = ({ store, config }: TotalsParts): StatusSection => ({
  name: 'assets',
  within: 'storage',
  schema: Totals,
  collect: () => ({ ...config, ...store.totals() }),
})

export const totalsHealth = ({ store, config: { max_bytes, max_count } }: TotalsParts): HealthCheck => ({
  id: 'asset_totals',
  check() {
    const { count: now, bytes } = store.totals()
    const isNear = (value: number, most: number): boolean => most > 0 && value >= most * full
    if (!isNear(now, max_count) && !isNear(bytes, max_bytes)) return []
    return [
      {
        severity: 'warning',
        code: 'assets_nearly_full',
        message: `${now} assets of ${bytes} bytes are stored, and the limit of config/assets.toml is near.`,
        action: `Delete what nothing needs: ${commandLine('assets gc --execute')}. Or raise max_count or max_bytes.`,
      },
    ]
  },
})

export const totalsMetrics = ({ store }: TotalsParts): readonly Metric[] => [
  {
    name: 'service_assets',
    help: 'Assets that are kept.',
    type: 'gauge',
    collect: () => [{ value: store.totals().count }],
  },
  {
    name: 'service_asset_bytes',
    help: 'Bytes of the files of all assets.',
    type: 'gauge',
    collect: () => [{ value: store.totals().bytes }],
  },
]
