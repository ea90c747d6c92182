//! Client address of a request behind proxies.
//!
//! Anybody can write `X-Forwarded-For`. So it counts only on a connection from a proxy that the operator named, and
//! only as far as such proxies wrote it. The client is the first address, read from the right, that is not one of
//! them.

use std::{net::IpAddr, str::FromStr};

use axum::http::HeaderMap;

/// A range of addresses: `10.0.0.0/8`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpNetwork {
    address: IpAddr,
    prefix: u8,
}

impl FromStr for IpNetwork {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = || format!("`{text}` is neither an address nor a range such as 10.0.0.0/8");
        let (address, prefix) =
            text.split_once('/').map_or((text, None), |(left, right)| (left, Some(right)));
        let address: IpAddr = address.parse().map_err(|_| fault())?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(longest), str::parse).map_err(|_| fault())?;
        if prefix > longest { Err(fault()) } else { Ok(Self { address, prefix }) }
    }
}

impl IpNetwork {
    /// Returns true if `address` lies in the range; an IPv4-mapped IPv6 address counts as the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            _ => false,
        }
    }
}

/// Returns the client address behind `peer`.
pub fn behind(proxies: &[IpNetwork], peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let trusted = |address: IpAddr| proxies.iter().any(|network| network.contains(address));
    let values = headers.get_all("x-forwarded-for").iter();
    let named: Vec<_> = values.flat_map(|value| value.to_str().unwrap_or("?").split(',')).collect();
    let mut address = peer.to_canonical();
    for hop in named.iter().rev() {
        if !trusted(address) {
            break;
        }
        // A text that is no address was not written by one of our proxies.
        let Ok(next) = hop.trim().parse::<IpAddr>() else { break };
        address = next.to_canonical();
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(texts: &[&str]) -> Vec<IpNetwork> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_range_holds_what_shares_its_beginning() {
        let cases = [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("fd00::/8", "fd12::1", true),
            ("::/0", "10.0.0.1", false),
        ];
        for (network, address, inside) in cases {
            assert_eq!(
                networks(&[network])[0].contains(address.parse().unwrap()),
                inside,
                "{network} {address}"
            );
        }
        for bad in ["", "10.0.0.0/33", "10.0.0", "fd00::/129", "10.0.0.0/x"] {
            assert!(bad.parse::<IpNetwork>().is_err(), "{bad}");
        }
    }

    #[test]
    fn only_what_our_proxies_wrote_counts() {
        let proxies = networks(&["10.0.0.0/8"]);
        let cases = [
            // An untrusted client may write anything.
            ("192.0.2.9", "203.0.113.1", "192.0.2.9"),
            ("10.0.0.1", "203.0.113.1", "203.0.113.1"),
            // Entries from the client itself stand to the left of what the proxy saw.
            ("10.0.0.1", "198.51.100.7, 203.0.113.1", "203.0.113.1"),
            ("10.0.0.1", "203.0.113.1, 10.0.0.2", "203.0.113.1"),
            ("10.0.0.1", "nonsense, 10.0.0.2", "10.0.0.2"),
            ("10.0.0.1", "", "10.0.0.1"),
        ];
        for (peer, forwarded, expected) in cases {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", forwarded.parse().unwrap());

            let address = behind(&proxies, peer.parse().unwrap(), &headers);
            assert_eq!(address, expected.parse::<IpAddr>().unwrap(), "{peer} {forwarded}");
        }
    }
}
