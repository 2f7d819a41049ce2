import { defineErrors } from '../../../core/plugin.js'

/** Problems of assets. */
export const assetErrors = defineErrors({
  asset_not_found: {
    status: 404,
    domain: 'assets',
    detail: 'There is no asset {asset_id}.',
    action: 'List them with GET /v1/assets; one that was deleted is uploaded again under another id.',
  },
  asset_part_not_found: {
    status: 404,
    domain: 'assets',
    detail: 'Asset {asset_id} has no {part}.',
    action: 'See text_uri and preview_image_uri of the asset for what it has.',
  },
  asset_invalid: {
    status: 400,
    domain: 'assets',
    detail: 'The file is not taken as {media_type}: {reason}.',
    action: 'Nothing was stored. Check the file and its media type.',
  },
  asset_type_unsupported: {
    status: 400,
    domain: 'assets',
    detail: '{media_type} is not a media type that assets can have here.',
    action: 'Convert the file to one of those that are named with it.',
  },
  asset_store_full: {
    status: 507,
    domain: 'assets',
    detail: '{file} is not taken: there are {count} assets of {bytes} bytes, and {limit} is the limit.',
    action:
      'Delete what nothing needs with POST /v1/assets/gc, or raise max_count and max_bytes in config/assets.toml.',
  },
  asset_delete_blocked: {
    status: 409,
    domain: 'assets',
    detail: 'Asset {asset_id} is in use {times}, first by {domain} {owner_id}.',
    action: 'See GET /v1/assets/{asset_id}/references for what uses it.',
  },
  asset_integrity_mismatch: {
    status: 409,
    domain: 'assets',
    detail: 'The stored bytes of asset {asset_id} are not there as they were.',
    action: 'Upload the same file again, or restore it from a backup.',
  },
})
