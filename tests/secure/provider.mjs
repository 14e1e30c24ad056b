// A provider of OpenID (npm oidc-provider) whose tokens are JWTs for one audience each.
// usage: node provider.mjs PORT KEYS    KEYS is a file with a JWKS of private keys; the first one signs. Started in a folder
// whose node_modules has the package.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [port, keys] = process.argv.slice(2);
const require = createRequire(`${process.cwd()}/package.json`);
const { Provider } = await import(pathToFileURL(require.resolve('oidc-provider')));
const issuer = `http://127.0.0.1:${port}`;
const { keys: jwks } = JSON.parse(readFileSync(keys, 'utf8'));
const client = (name) => ({
  client_id: name, client_secret: `${name}-secret`, grant_types: ['client_credentials'], redirect_uris: [], response_types: [],
  id_token_signed_response_alg: jwks[0].alg,
});
const provider = new Provider(issuer, {
  clients: ['acme', 'bolt'].map(client),
  jwks: { keys: jwks },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'query write admin',
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 600,
        jwt: { sign: { alg: jwks[0].alg } },
      }),
    },
  },
  // The scope that was granted is the role.
  extraTokenClaims: (_, token) => ({ tenant: token.clientId, role: token.scope }),
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
