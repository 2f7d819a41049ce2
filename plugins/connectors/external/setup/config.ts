import { array, defaulted, doc, isCidr, object, rule, string } from '../../../../core/plugin.js'

export const externalConfig = object({
  allow_cidrs: doc(
    defaulted(array(rule(string(), 'must be an address range such as 198.18.0.0/15', isCidr), { max: 100 }), []),
    'Special address ranges that sidecars may have, such as the one a local proxy answers names from.',
  ),
})
