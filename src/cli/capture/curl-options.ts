/** What an option of curl means for a captured callback. */
export type CurlMeaning =
  | 'header'
  | 'data'
  | 'raw-data'
  | 'json'
  | 'url'
  /** Takes a value that does not matter. */
  | 'skip-value'
  /** Takes none and does not matter. */
  | 'skip'
  /** Changes the body in a way that is not read here. */
  | 'unreadable';

const named = (meaning: CurlMeaning, names: string): [string, CurlMeaning][] =>
  names.split(' ').map((name) => [name, meaning]);

/** The long options that are known, without their dashes. */
export const curlLongOptions: ReadonlyMap<string, CurlMeaning> = new Map([
  ...named('header', 'header'),
  ...named('data', 'data data-ascii data-binary'),
  ...named('raw-data', 'data-raw'),
  ...named('json', 'json'),
  ...named('url', 'url'),
  ...named('unreadable', 'data-urlencode form form-string upload-file get head config next'),
  ...named(
    'skip-value',
    'request user-agent referer cookie cookie-jar user proxy proxy-user oauth2-bearer output write-out max-time connect-timeout cacert capath cert cert-type key key-type pass resolve connect-to interface retry retry-delay retry-max-time max-redirs dump-header trace trace-ascii stderr ciphers tls-max unix-socket limit-rate expect100-timeout keepalive-time noproxy',
  ),
  ...named(
    'skip',
    'compressed location location-trusted insecure silent show-error fail fail-with-body fail-early include verbose globoff no-buffer no-keepalive http1.0 http1.1 http2 http2-prior-knowledge http3 ipv4 ipv6 tlsv1 tlsv1.2 tlsv1.3 path-as-is progress-bar no-progress-meter remote-name tcp-nodelay raw post301 post302 post303 retry-connrefused retry-all-errors ssl-no-revoke anyauth basic digest',
  ),
]);

/** The short options that are known, without their dash. */
export const curlShortOptions: ReadonlyMap<string, CurlMeaning> = new Map([
  ...named('header', 'H'),
  ...named('data', 'd'),
  ...named('unreadable', 'F T G I K :'),
  ...named('skip-value', 'X A e b c u x U o w m E D r y Y z C P Q t'),
  ...named('skip', 'L k s S f i v g N 0 1 2 3 4 6 # O j J n p q R a Z'),
]);
