// @TITLE@
//
// P4-16 for v1model (bmv2's simple_switch), one program for all switches of the fabric; their entries differ.
// A destination is looked up by longest prefix. Its entry names a port, or a group of ports that are equally good; then
// one of the group is chosen: @RULE@.
// Packets with IPv4 options, of other protocols than IPv4, with a wrong header checksum, or whose time to live is over,
// are dropped. Fragments and protocols without ports are hashed with ports 0.

#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
@CONSTANTS@
header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> ethertype;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

// The first four bytes of a TCP header and of a UDP header are the same.
header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    ports_t ports;
}

struct metadata_t {
    bit<16> src_port;
    bit<16> dst_port;
    // The group of equal ports, how many they are, and which one is taken.
    bit<32> group;
    bit<32> size;
    bit<32> member;
}

parser FabricParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (0, 5, PROTOCOL_TCP): ports;
            (0, 5, PROTOCOL_UDP): ports;
            default: accept;
        }
    }
    state ports {
        packet.extract(hdr.ports);
        meta.src_port = hdr.ports.src;
        meta.dst_port = hdr.ports.dst;
        transition accept;
    }
}

control FabricVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control FabricIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action drop() {
        mark_to_drop(standard);
    }

    // The frame was addressed to this switch, and goes on to the node behind the port.
    action forward(bit<9> port, bit<48> neighbor) {
        standard.egress_spec = port;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = neighbor;
    }

    action spread(bit<32> group, bit<32> size) {
        meta.group = group;
        meta.size = size;
    }

    table route {
        key = {
            hdr.ipv4.dst: lpm;
        }
        actions = {
            forward;
            spread;
            drop;
        }
        size = @ROUTES@;
        default_action = drop();
    }

    table member {
        key = {
            meta.group: exact;
            meta.member: exact;
        }
        actions = {
            forward;
            drop;
        }
        size = @MEMBERS@;
        default_action = drop();
    }
@DECLARATIONS@
    apply {
        if (standard.parser_error != error.NoError || !hdr.ipv4.isValid() || hdr.ipv4.version != 4 || hdr.ipv4.ihl != 5
            || standard.checksum_error == 1 || hdr.ipv4.ttl <= 1) {
            drop();
        } else {
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            switch (route.apply().action_run) {
                spread: {
@CHOICE@
                    member.apply();
                }
                default: {}
            }
        }
    }
}

control FabricEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control FabricChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control FabricDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

V1Switch(FabricParser(), FabricVerify(), FabricIngress(), FabricEgress(), FabricChecksum(), FabricDeparser()) main;
